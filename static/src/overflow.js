// Tells of each table's box on which sides more of it lies; the style sheet fades the table there.
const seen = new WeakSet();
const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => tell(target.closest(".table-box") ?? target)));

export function watchTables(root) {
  const boxes = [...root.querySelectorAll?.(".table-box") ?? []];
  if (root.matches?.(".table-box")) boxes.push(root);
  for (const box of boxes) {
    if (seen.has(box)) continue;
    seen.add(box);
    box.addEventListener("scroll", () => tell(box), { passive: true });
    sizes.observe(box);
    if (box.firstElementChild) sizes.observe(box.firstElementChild);
  }
}

function tell(box) {
  // The first column stays in sight on narrow screens, so what lies to its left is told by it.
  const isSticky = matchMedia("(max-width: 720px)").matches;
  const left = !isSticky && box.scrollLeft > 1;
  const right = box.scrollLeft + box.clientWidth < box.scrollWidth - 1;
  const more = left && right ? "both" : left ? "left" : right ? "right" : "";
  if (more) box.dataset.more = more;
  else delete box.dataset.more;
}
