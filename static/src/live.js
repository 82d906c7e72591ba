// Live parts. A frame is a doorbell: when it tells of more than is shown, the part is fetched from the server anew.
// So one template draws both the static and the live page, and a missed frame costs time, never content.
import { swapKeepingPlace } from "./swap.js";

const SHORTEST_GAP = 100; // milliseconds between fetches of one part: a first result waits for no more
const POLL = 3000; // milliseconds, while there is no socket or the last answer was none
const QUEUED_POLL = 10000; // milliseconds: those ahead in the queue ring no bell here, yet place and wait move
const FIRST_WAIT = 500; // milliseconds before the first reconnect; doubles up to LONGEST_WAIT
const LONGEST_WAIT = 15000;
const CLOSED_FOR_GOOD = 4404; // no such thing, or not for this visitor: asking again changes nothing

const watched = new Map(); // element id → LivePart

export function watchLiveParts(root) {
  const parts = [...root.querySelectorAll?.("[data-live-url]") ?? []];
  if (root.matches?.("[data-live-url]")) parts.push(root);
  for (const element of parts) {
    const part = watched.get(element.id);
    if (part) part.noteSwap();
    else watched.set(element.id, new LivePart(element.id));
  }
  for (const [id, part] of watched) {
    if (document.getElementById(id)) continue;
    part.stop();
    watched.delete(id);
  }
}

/** It waits in a queue, or something of it does. */
const isQueued = (element) => element !== null && (element.dataset.status === "queued" || "queued" in element.dataset);

class LivePart {
  constructor(id) {
    this.id = id;
    this.stopped = false;
    this.wait = FIRST_WAIT;
    this.lastFetch = 0;
    this.fetching = false;
    this.again = false; // a frame came while a fetch was under way
    this.announce();
    if (this.isFinished()) this.stopped = true;
    else this.connect();
    if (!this.stopped) this.queued = setInterval(() => this.askWhileQueued(), QUEUED_POLL);
  }

  askWhileQueued() {
    if (!document.hidden && isQueued(this.element())) this.refresh();
  }

  element() {
    return document.getElementById(this.id);
  }

  isFinished() {
    return this.element()?.hasAttribute("data-finished") ?? true;
  }

  connect() {
    if (this.stopped) return;
    const path = this.element()?.dataset.liveSocket;
    if (!path) return; // a board of an old version: nothing moves on it
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    this.socket = new WebSocket(`${scheme}//${location.host}${path}`);
    this.socket.addEventListener("open", () => {
      this.wait = FIRST_WAIT;
      this.stopPolling();
    });
    this.socket.addEventListener("message", (event) => this.hear(event.data));
    this.socket.addEventListener("close", (event) => this.lost(event.code));
  }

  hear(text) {
    let frame;
    try {
      frame = JSON.parse(text);
    } catch {
      return;
    }
    const shown = this.element()?.dataset;
    if (!shown) return;
    const newer = !(Number(frame.seq) <= Number(shown.seq || -1));
    const changed = frame.status !== undefined && frame.status !== shown.status;
    if (newer || changed) this.refresh();
  }

  lost(code) {
    if (this.stopped) return;
    if (code === CLOSED_FOR_GOOD) {
      this.stop();
      return;
    }
    this.startPolling();
    this.retry = setTimeout(() => this.connect(), this.wait * (0.75 + Math.random() / 2));
    this.wait = Math.min(LONGEST_WAIT, this.wait * 2);
  }

  startPolling() {
    this.poll ??= setInterval(() => { if (!document.hidden) this.refresh(); }, POLL);
  }

  stopPolling() {
    clearInterval(this.poll);
    this.poll = undefined;
  }

  refresh() {
    if (this.stopped) return;
    if (this.fetching || this.timer) {
      this.again = true;
      return;
    }
    const wait = Math.max(0, this.lastFetch + SHORTEST_GAP - performance.now());
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.fetch();
    }, wait);
  }

  async fetch() {
    const element = this.element();
    if (!element) return;
    this.fetching = true;
    this.again = false;
    this.lastFetch = performance.now();
    try {
      const answer = await fetch(element.dataset.liveUrl, { headers: { "HX-Request": "true" }, redirect: "error" });
      if (answer.status === 404) {
        this.stop();
      } else if (answer.ok) {
        this.swap(await answer.text());
        if (this.socket?.readyState === WebSocket.OPEN) this.stopPolling();
      } else {
        this.startPolling(); // overloaded or failing: what the frame told of is still not shown
      }
    } catch {
      this.startPolling(); // the server is away; the next poll or frame tries again
    } finally {
      this.fetching = false;
      if (this.again) this.refresh();
    }
  }

  swap(html) {
    const fresh = new DOMParser().parseFromString(html, "text/html").getElementById(this.id);
    const element = this.element();
    if (!fresh || !element) return;
    // Answers can overtake each other only through a proxy's cache; never go back.
    if (Number(fresh.dataset.seq) < Number(element.dataset.seq)) return;
    const adopted = document.adoptNode(fresh);
    swapKeepingPlace(element, adopted);
    window.htmx?.process(adopted);
    document.dispatchEvent(new CustomEvent("kernelhub:swapped", { detail: adopted }));
    this.noteSwap();
  }

  noteSwap() {
    this.announce();
    if (this.isFinished()) this.stop();
  }

  announce() {
    const sentence = this.element()?.querySelector("[data-live-sentence]")?.textContent.trim();
    const place = document.querySelector("[data-live-announce]");
    if (!place || !sentence || place.textContent === sentence) return;
    place.textContent = sentence;
  }

  stop() {
    this.stopped = true;
    clearTimeout(this.retry);
    clearTimeout(this.timer);
    clearInterval(this.queued);
    this.stopPolling();
    this.socket?.close();
  }
}
