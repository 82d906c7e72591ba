// Numbers on charts, and ages, as leaderboard/templatetags/formats.py writes them in text.
const UNITS = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];

export function formatDuration(seconds) {
  if (seconds === 0) return "0";
  const [size, unit] = UNITS.find(([size]) => seconds >= size) ?? UNITS.at(-1);
  return `${Number((seconds / size).toPrecision(4))}\u202f${unit}`;
}

const AGES = [[86400 * 365, "y"], [86400 * 30, "mo"], [86400, "d"], [3600, "h"], [60, "min"]];
const LEAST_TO_COME = { y: 4, mo: 4 };

/** How long ago; of a moment to come the seconds are below 0. */
export function formatAge(seconds) {
  for (const [size, unit] of AGES) {
    if (seconds >= size) return `${Math.floor(seconds / size)}\u202f${unit} ago`;
    if (-seconds >= size * (LEAST_TO_COME[unit] ?? 1)) return `in ${Math.round(-seconds / size)}\u202f${unit}`;
  }
  return seconds >= 0 ? "just now" : "in under a minute";
}

const lead = (value) => Number((value / 10 ** Math.floor(Math.log10(value))).toPrecision(3));
/** Of two digits at most. */
const isShort = (value) => {
  const tens = value / 10 ** (Math.floor(Math.log10(value)) - 1);
  return Math.abs(tens - Math.round(tens)) < 1e-6;
};
const ROUND = [[1, 2, 3, 5], [1, 2, 5], [1]]; // leading digits, the finest first
const MOST_TICKS = 6;
const MOST_ABREAST = 4; // side by side on a phone

// As many round ones as have room, or all where hardly any is round.
function timeTick(value, place, ticks) {
  const leads = ticks.map((tick) => lead(tick.value));
  const count = (digits) => leads.filter((digit) => digits.includes(digit)).length;
  const most = this.isHorizontal() && this.chart.width < 480 ? MOST_ABREAST : MOST_TICKS;
  const digits = ROUND.find((some) => count(some) <= most) ?? ROUND.at(-1);
  if (count(digits) >= 2) return digits.includes(lead(value)) ? formatDuration(value) : "";
  // The ends of a range are seldom round, and would lie over the ticks beside them.
  return isShort(value) || !ticks.some((tick) => isShort(tick.value)) ? formatDuration(value) : "";
}

/** Ticks of a logarithmic scale of times. Chart.js would leave some out by place, and take their width for none. */
export const timeTicks = { callback: timeTick, autoSkip: false, maxTicksLimit: 1000 };

/** A moment (milliseconds) as coarse as the span on show (milliseconds) asks for, in UTC. */
export function formatDate(moment, span) {
  const text = new Date(moment).toISOString();
  if (span > 3 * 86_400_000) return text.slice(0, 10);
  if (span > 120_000) return `${text.slice(5, 10)} ${text.slice(11, 16)}`;
  return text.slice(11, 19);
}
