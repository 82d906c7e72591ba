// What the charts of a search draw: read whole once, then only what came after the last number.
const MOST_POINTS = 6000; // past this the whole is read anew, thinned out by the server

export class SearchData {
  constructor(url) {
    this.url = url;
    this.forget();
  }

  forget() {
    this.seq = 0;
    this.after = null; // number of the last candidate read of that event, where there are more of it
    this.points = new Map(); // number → { kind, seconds, forecast }
    this.steps = [];
    this.highest = -1; // number of the newest candidate heard of
    this.isThinned = false;
  }

  /** Reads on from the last number; whether anything came. Throws when the server does not answer. */
  async read() {
    if (this.points.size > MOST_POINTS) this.forget();
    let changed = false;
    for (let more = true; more;) {
      const after = this.after === null ? "" : `&after=${this.after}`;
      const answer = await fetch(`${this.url}?since=${this.seq}${after}`, { headers: { Accept: "application/json" } });
      if (!answer.ok) throw new Error(`the charts' data: ${answer.status}`);
      const found = await answer.json();
      changed ||= found.seq > this.seq || this.seq === 0 || found.points.number.length > 0;
      this.take(found);
      more = found.after !== null;
    }
    return changed;
  }

  take(found) {
    if (found.kinds) {
      Object.assign(this, { kinds: found.kinds, band: found.band, candidate: found.candidate });
      this.starter = found.starter;
      this.isThinned = found.considered > found.points.number.length;
    }
    const { number, kind, seconds, forecast } = found.points;
    number.forEach((key, place) => {
      this.points.set(key, { kind: kind[place], seconds: seconds[place], forecast: forecast[place] });
      if (key > this.highest) this.highest = key;
      // The first one measured, number 0, is the starter.
      if (key === 0 && seconds[place] !== null) this.starter ??= seconds[place];
    });
    this.takeSteps(found.steps);
    this.seq = found.seq;
    this.after = found.after;
  }

  takeSteps(columns) {
    columns.measurements.forEach((measurements, place) => {
      const last = this.steps.at(-1);
      // The newest measurement stands there until a newer one does, unless it was an improvement.
      if (last && last.seconds === this.steps.at(-2)?.seconds) this.steps.pop();
      const step = { measurements };
      for (const name of ["device_seconds", "elapsed", "dollars", "seconds", "number"]) step[name] = columns[name][place];
      this.steps.push(step);
    });
  }

  /** The band of random draws along an axis, or nothing where draws have no place on it. */
  bandAlong(axis) {
    const last = this.steps.at(-1);
    if (!this.band || !last || !["measurements", "device_seconds", "elapsed"].includes(axis)) return undefined;
    const first = this.starter ? 1 : 0; // random draws, too, come after the starter
    const each = axis === "measurements" ? 1 : last[axis] / last.measurements;
    const column = (name) => this.band[name].map((seconds, place) => ({
      x: (place + 1 + first) * each, y: this.starter ? Math.min(seconds, this.starter) : seconds,
    }));
    return { low: column("low"), high: column("high"), expected: column("expected") };
  }

  bandNote(axis) {
    if (!this.band) return "";
    if (axis === "dollars") return "Random draws cost no model’s money: they have no place along this axis.";
    if (!this.bandAlong(axis)) return "";
    const { sample } = this.band;
    const what = `Grey: what random draws find, expected and in 80 of 100 series, from ${sample} kernels drawn at random and measured.`;
    const fair = this.band.is_sieved
      ? " The surrogate let these through, so they are likely faster than random ones."
      : " Nothing chose among them.";
    const counts = { device_seconds: " A draw counts as this search’s mean device time.",
      elapsed: " A draw counts as this search’s mean time between measurements." };
    return what + fair + (counts[axis] ?? "");
  }
}
