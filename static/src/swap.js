// Replaces a part of the page without taking away what the reader did there: open details, focus, scroll places.
export function swapKeepingPlace(old, fresh) {
  const open = [...old.querySelectorAll("details[id][open]")].map((item) => item.id);
  const closed = [...old.querySelectorAll("details[id]:not([open])")].map((item) => item.id);
  const focused = old.contains(document.activeElement) ? pathOf(document.activeElement, old) : undefined;
  const scrolled = [...old.querySelectorAll("[role=region][aria-label], [role=region][aria-labelledby]")]
    .filter((box) => box.scrollLeft || box.scrollTop)
    .map((box) => [nameOf(box), box.scrollLeft, box.scrollTop]);

  old.replaceWith(fresh);

  for (const id of open) fresh.querySelector(`details[id="${CSS.escape(id)}"]`)?.setAttribute("open", "");
  for (const id of closed) fresh.querySelector(`details[id="${CSS.escape(id)}"]`)?.removeAttribute("open");
  for (const box of fresh.querySelectorAll("[role=region]")) {
    const place = scrolled.find(([name]) => name === nameOf(box));
    if (place) box.scrollTo(place[1], place[2]);
  }
  focused?.(fresh)?.focus({ preventScroll: true });
}

function nameOf(box) {
  return box.getAttribute("aria-labelledby") ?? box.getAttribute("aria-label");
}

// How to find the focused element again: by id, by address, or by the region it is.
function pathOf(element, root) {
  if (element.id) return () => document.getElementById(element.id);
  const href = element.getAttribute("href");
  if (href) return (fresh) => [...fresh.querySelectorAll("a")].find((link) => link.getAttribute("href") === href);
  if (element.getAttribute("role") === "region") {
    const name = nameOf(element);
    return (fresh) => [...fresh.querySelectorAll("[role=region]")].find((box) => nameOf(box) === name);
  }
  const summary = element.tagName === "SUMMARY" ? element.parentElement?.id : undefined;
  if (summary && root) return (fresh) => fresh.querySelector(`details[id="${CSS.escape(summary)}"] > summary`);
  return undefined;
}
