// Keeps what stands around a live part up to date: the charts by what came since, other parts as a whole.
import { swapKeepingPlace } from "./swap.js";

const CHARTS_GAP = 500; // milliseconds between two readings of the charts' data
const PARTS_GAP = 4000; // between two readings of the other parts

/**
 * Calls ``read`` now and after the live part ``id`` was swapped, and has the ``data-follow`` parts read anew. What
 * is swapped while the first reading is under way is not missed, and a reading that failed is tried again.
 */
export function follow(id, read, onPart) {
  const charts = paced(read, CHARTS_GAP);
  const parts = paced(() => refreshParts(onPart), PARTS_GAP);
  document.addEventListener("kernelhub:swapped", (event) => {
    if (event.detail.id !== id) return;
    charts();
    parts();
  });
  charts();
}

/** A call that runs at most once per ``gap``, one at a time, and once more after the last call. */
function paced(act, gap) {
  let last = -Infinity;
  let timer;
  let busy = false;
  let again = false;
  const call = () => {
    if (busy || timer) {
      again = busy;
      return;
    }
    timer = setTimeout(async () => {
      timer = undefined;
      busy = true;
      again = false;
      last = performance.now();
      try {
        await act();
      } catch {
        again = true; // the server is away: asked once more after a while
        last += 5000;
      }
      busy = false;
      if (again) call();
    }, Math.max(0, last + gap - performance.now()));
  };
  return call;
}

async function refreshParts(onPart) {
  for (const part of document.querySelectorAll("[data-follow]")) {
    if (isInUse(part)) continue;
    const answer = await fetch(part.dataset.follow, { headers: { "HX-Request": "true" }, redirect: "error" });
    if (!answer.ok) continue;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(part.id);
    const old = document.getElementById(part.id);
    if (!fresh || !old || isInUse(old)) continue;
    const adopted = document.adoptNode(fresh);
    swapKeepingPlace(old, adopted);
    onPart(adopted);
  }
}

// Somebody is choosing a filter or has ticked rows: nothing is taken out of his hands.
function isInUse(part) {
  return part.querySelector("input:checked") !== null || (part.contains(document.activeElement) && document.activeElement.matches("select, input"));
}
