// Keeps "3 min ago" true while a page stays open, as leaderboard/templatetags/formats.py wrote it.
import { formatAge } from "./format.js";

const GAP = 15_000; // milliseconds; what is told changes once a minute at most
const seen = new WeakMap(); // element → when it would have been 0 seconds old, by this machine's clock
let timer;

/** Ages are told by the server and counted on from there: the reader's clock may be wrong, its pace is not. */
export function watchAges(root) {
  const elements = [...root.querySelectorAll?.("time[data-age]") ?? []];
  if (root.matches?.("time[data-age]")) elements.push(root);
  for (const element of elements) if (!seen.has(element)) seen.set(element, Date.now() - 1000 * Number(element.dataset.age));
  if (!elements.length || timer) return;
  timer = setInterval(tell, GAP);
  document.addEventListener("visibilitychange", tell);
}

function tell() {
  if (document.hidden) return;
  for (const element of document.querySelectorAll("time[data-age]")) {
    if (!seen.has(element)) continue;
    const text = formatAge((Date.now() - seen.get(element)) / 1000);
    if (element.textContent !== text) element.textContent = text;
  }
}
