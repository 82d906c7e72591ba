// Links compiled lines with source lines: pointing at one lights up the others.
export function linkListings(root) {
  for (const listing of root.querySelectorAll("pre[data-listing]")) {
    listing.removeAttribute("data-listing");
    for (const name of ["pointerover", "focusin"]) {
      listing.addEventListener(name, (event) => light(event.target.closest?.(".line")?.dataset.from));
    }
    listing.addEventListener("pointerleave", () => light(undefined));
  }
}

let lit = [];

function light(number) {
  for (const line of lit) line.classList.remove("lit");
  lit = [];
  if (!number) return;
  const source = document.getElementById(`L-${number}`);
  if (source) lit.push(source);
  lit.push(...document.querySelectorAll(`pre .line[data-from="${CSS.escape(number)}"]`));
  for (const line of lit) line.classList.add("lit");
}
