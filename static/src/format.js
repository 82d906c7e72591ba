// Numbers on charts, as leaderboard/templatetags/formats.py writes them in text.
const UNITS = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];

export function formatDuration(seconds) {
  const [size, unit] = UNITS.find(([size]) => seconds >= size) ?? UNITS.at(-1);
  return `${Number((seconds / size).toPrecision(4))}\u202f${unit}`;
}

/** A moment (milliseconds) as coarse as the span on show (milliseconds) asks for, in UTC. */
export function formatDate(moment, span) {
  const text = new Date(moment).toISOString();
  if (span > 3 * 86_400_000) return text.slice(0, 10);
  if (span > 120_000) return `${text.slice(5, 10)} ${text.slice(11, 16)}`;
  return text.slice(11, 19);
}
