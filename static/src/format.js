// Numbers on charts, as leaderboard/templatetags/formats.py writes them in text.
const UNITS = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];

export function formatDuration(seconds) {
  if (seconds === 0) return "0";
  const [size, unit] = UNITS.find(([size]) => seconds >= size) ?? UNITS.at(-1);
  return `${Number((seconds / size).toPrecision(4))}\u202f${unit}`;
}

const isRound = (value) => [1, 2, 3, 5].includes(Number((value / 10 ** Math.floor(Math.log10(value))).toPrecision(3)));

/** Ticks of a logarithmic scale of times: round ones, or all of them where the scale is too short to hold two. */
export function timeTick(value, place, ticks) {
  const few = ticks.filter((tick) => isRound(tick.value)).length < 2;
  return few || isRound(value) ? formatDuration(value) : "";
}

/** A moment (milliseconds) as coarse as the span on show (milliseconds) asks for, in UTC. */
export function formatDate(moment, span) {
  const text = new Date(moment).toISOString();
  if (span > 3 * 86_400_000) return text.slice(0, 10);
  if (span > 120_000) return `${text.slice(5, 10)} ${text.slice(11, 16)}`;
  return text.slice(11, 19);
}
