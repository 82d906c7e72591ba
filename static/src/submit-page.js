// The submit page. Everything here is comfort: the form works as it stands without it.
import { startChoices } from "./choices.js";
import { makeEditor } from "./code-editor.js";
import { startForecast } from "./forecast.js";
import { dropDraft, readDraft, writeDraft } from "./draft.js";

const SAVE_AFTER = 400; // milliseconds of quiet before a draft is stored

export function startSubmitPage(form, nonce) {
  const page = JSON.parse(document.getElementById("page-data").textContent);
  const textarea = document.getElementById("source");
  const status = document.getElementById("draft-status");
  const reset = document.getElementById("reset");
  const button = document.getElementById("submit-button");
  let timer;

  const chosen = (name) => form.querySelector(`input[name=${name}]:checked`)?.value ?? "";
  // On CUDA devices Python has a starter of its own, in Triton, and so a draft of its own.
  const starterKey = () => {
    const language = chosen("language");
    const special = `${language}-${page.kinds[chosen("device")] ?? ""}`;
    return special in page.starters ? special : language;
  };
  const draftKey = (key = starterKey(), person = page.person) => `${person}.${page.task}.${page.version}.${key}`;
  // Who logs in keeps what was written before; who comes after somebody else does not see theirs.
  const keptDraft = () => readDraft(draftKey()) ?? readDraft(draftKey(starterKey(), ""));
  const starter = (key = starterKey()) => page.starters[key] ?? "";

  let current = starterKey();
  let forecast; // told of every change, once there is an editor to read
  const editor = makeEditor(textarea, {
    language: chosen("language"),
    nonce,
    onChange: () => {
      clearTimeout(timer);
      timer = setTimeout(save, SAVE_AFTER);
      forecast?.();
    },
    onSubmit: () => button && !button.disabled && form.requestSubmit(button),
  });
  const choices = startChoices(form, switchTo);
  forecast = startForecast(page.task, () => ({
    device: chosen("device"), language: chosen("language"), source: editor.text(),
  }));

  function save() {
    clearTimeout(timer);
    timer = undefined;
    const text = editor.text();
    dropDraft(draftKey(current, ""));
    if (text === starter(current)) {
      dropDraft(draftKey(current));
      status.textContent = "";
    } else {
      status.textContent = writeDraft(draftKey(current), text) ? "Draft saved in this browser" : "Draft not saved: no storage";
    }
  }

  function switchTo() {
    forecast?.();
    const next = starterKey();
    editor.setLanguage(chosen("language"));
    if (next === current) return;
    if (timer) save();
    current = next;
    const draft = keptDraft();
    editor.replace(draft ?? starter());
    clearTimeout(timer);
    timer = undefined;
    status.textContent = draft === undefined ? "" : "Draft of earlier restored";
  }

  // A draft comes back only where the page shows the plain starter: never over a refused or a chosen source.
  const draft = keptDraft();
  if (draft !== undefined && textarea.value.trim() === starter().trim()) {
    editor.replace(draft);
    clearTimeout(timer);
    status.textContent = "Draft of earlier restored";
  }

  reset.hidden = false;
  reset.addEventListener("click", () => {
    editor.replace(starter());
    save();
    editor.focus();
  });

  startUpload(form, page, editor, status);

  // Before htmx reads the form, which it does on the same event later.
  form.addEventListener("submit", () => {
    editor.sync();
    if (timer) save();
  }, { capture: true });
  form.addEventListener("keydown", (event) => {
    const inEditor = event.target.closest?.(".cm-editor");
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !inEditor && button && !button.disabled) {
      event.preventDefault();
      form.requestSubmit(button);
    }
  });
  window.addEventListener("pagehide", () => { if (timer) save(); });

  const result = document.getElementById("result");
  // On this page the source stands in the editor, so links to its lines lead there.
  result.addEventListener("click", (event) => {
    const target = event.target.closest?.("a[href^='#L-']")?.getAttribute("href");
    if (!target) return;
    event.preventDefault();
    editor.showError(Number(target.slice(3)));
  });
  // The step that the result names is taken here, beside the text that was run.
  result.addEventListener("click", (event) => {
    const mode = event.target.closest?.("a[data-choose-mode]")?.dataset.chooseMode;
    const input = mode && form.querySelector(`input[name=mode][value="${CSS.escape(mode)}"]`);
    if (!input || input.disabled) return;
    event.preventDefault();
    input.checked = true;
    input.dispatchEvent(new Event("change", { bubbles: true }));
    input.focus();
  });
  // A run that ended gave back what was held for it, and the queue has moved.
  let renewedFor;
  for (const name of ["kernelhub:swapped", "htmx:load"]) {
    document.addEventListener(name, () => {
      const ended = result.querySelector(".run[data-status=finished]")?.id;
      if (!ended || ended === renewedFor) return;
      renewedFor = ended;
      renewChoices(choices);
    });
  }
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target !== result) return;
    const refusal = result.querySelector("[data-refusal]");
    const show = () => result.scrollIntoView({ block: "nearest", behavior: "auto" });
    if (refusal?.dataset.line) {
      editor.showError(Number(refusal.dataset.line));
      // The editor brings its line into view within the next frames; the words why come last.
      requestAnimationFrame(() => requestAnimationFrame(show));
      return;
    }
    result.focus({ preventScroll: true });
    show();
  });
  document.addEventListener("htmx:sendError", () => showProblem(result, "The server did not answer. Your draft is safe; try again."));
  document.addEventListener("htmx:responseError", (event) =>
    showProblem(result, `The server answered ${event.detail.xhr.status}. Your draft is safe; load the page again and resubmit.`));
}

function showProblem(result, text) {
  const note = document.createElement("div");
  note.className = "note bad";
  note.setAttribute("role", "alert");
  note.textContent = text;
  result.replaceChildren(note);
}

async function renewChoices(choices) {
  try {
    const answer = await fetch(location.pathname, { redirect: "error" });
    if (answer.ok) choices.renew(new DOMParser().parseFromString(await answer.text(), "text/html"));
  } catch {
    // The server is away: the pickers stay as they were, and the next submission is judged all the same.
  }
}

// A chosen file goes into the editor, where it can be read and changed before it is sent.
function startUpload(form, page, editor, status) {
  const input = document.getElementById("file");
  input.addEventListener("change", async () => {
    const file = input.files[0];
    if (!file) return;
    if (file.size > page.maxBytes) {
      status.textContent = `${file.name} is larger than 1 MB and was not loaded`;
      input.value = "";
      return;
    }
    let text;
    try {
      text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    } catch {
      status.textContent = `${file.name} is not UTF-8 text and was not loaded`;
      input.value = "";
      return;
    }
    const suffix = file.name.slice(file.name.lastIndexOf(".")).toLowerCase();
    const language = [...form.querySelectorAll("input[name=language]")]
      .find((item) => !item.disabled && item.dataset.suffixes.split(" ").includes(suffix));
    if (language && !language.checked) {
      language.checked = true;
      language.dispatchEvent(new Event("change", { bubbles: true }));
    }
    editor.replace(text.replaceAll("\r\n", "\n"));
    // The field must be empty when the form goes out, or the file would win over later changes in the editor.
    input.value = "";
    status.textContent = `${file.name} loaded`;
  });
}
