// Greys out languages and modes that do not go with the chosen device, and says why beside them.
export function startChoices(form, onChange) {
  const devices = [...form.querySelectorAll("input[name=device]")];
  const dependent = [...form.querySelectorAll("input[data-devices]")];
  for (const input of dependent) {
    const note = input.parentElement.querySelector("small");
    input.dataset.note = note.textContent;
  }

  function refresh() {
    const device = form.querySelector("input[name=device]:checked")?.value;
    for (const input of dependent) {
      const fits = !device || input.dataset.devices.split(" ").includes(device);
      const note = input.parentElement.querySelector("small");
      const never = input.hasAttribute("data-never");
      input.disabled = never || !fits;
      const reason = JSON.parse(input.dataset.reasons)[device] ?? note.dataset.reason;
      note.textContent = !never && !fits ? reason : input.dataset.note;
      if (input.disabled) input.checked = false;
    }
    for (const name of ["language", "mode"]) {
      const group = [...form.querySelectorAll(`input[name=${name}]`)];
      if (group.some((input) => input.checked)) continue;
      const first = group.find((input) => !input.disabled);
      if (first) first.checked = true;
    }
    for (const budget of form.querySelectorAll("[data-budget]")) {
      budget.hidden = Boolean(device) && devices.length > 1 && budget.dataset.budget !== device;
    }
  }

  // What the server says now, of a page fetched anew: numbers and reasons change, what was chosen stays.
  function renew(fresh) {
    for (const input of form.querySelectorAll("input[type=radio]")) {
      const now = fresh.querySelector(`input[name=${input.name}][value="${CSS.escape(input.value)}"]`);
      if (!now) continue;
      const note = input.parentElement.querySelector("small");
      const told = now.parentElement.querySelector("small");
      note.textContent = told.textContent;
      input.disabled = now.disabled;
      input.toggleAttribute("data-never", now.hasAttribute("data-never"));
      if (!dependent.includes(input)) continue;
      input.dataset.note = told.textContent;
      input.dataset.devices = now.dataset.devices;
      input.dataset.reasons = now.dataset.reasons;
    }
    const budgets = fresh.getElementById("budgets");
    if (budgets) document.getElementById("budgets")?.replaceWith(document.adoptNode(budgets));
    refresh();
  }

  form.addEventListener("change", (event) => {
    if (!["device", "language", "mode"].includes(event.target.name)) return;
    refresh();
    onChange();
  });
  // The budgets come anew with each submission.
  document.addEventListener("htmx:oobAfterSwap", refresh);
  refresh();
  return { renew };
}
