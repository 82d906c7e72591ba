// The surrogate's charts: configurations for Chart.js, one function per kind. Each page also holds their data as a table.
import { formatDate, formatDuration, timeTicks } from "./format.js";

const percent = (share) => `${Math.round(share * 100)}\u202f%`;

const axis = (title, { line, quiet }, font, more = {}) => ({
  type: "linear",
  grid: { color: line },
  border: { display: false },
  title: { display: true, text: title, color: quiet, font },
  ...more,
  ticks: { color: quiet, font, maxTicksLimit: 8, maxRotation: 0, ...more.ticks },
});

const level = (points, { quiet }) => ({
  type: "line", data: points, borderColor: quiet, borderWidth: 1, borderDash: [4, 4], pointRadius: 0, pointHitRadius: 0,
});

const plugins = (label, title = () => "") => ({
  legend: { display: false },
  tooltip: { filter: (item) => item.dataset.pointHitRadius !== 0, callbacks: { label, title } },
});

/** Forecast against measured seconds, both logarithmic, with the diagonal. A click opens the submission. */
function scatter(points, colours, font) {
  const times = points.flatMap((point) => [point.x, point.y]);
  const low = Math.min(...times) / 1.3;
  const high = Math.max(...times) * 1.3;
  const scale = (title) => axis(title, colours, font, { type: "logarithmic", min: low, max: high, ticks: timeTicks });
  return {
    type: "scatter",
    data: {
      datasets: [
        { data: points, backgroundColor: colours.accent, borderColor: colours.accent, pointRadius: 3.5, pointHoverRadius: 6 },
        level([{ x: low, y: low }, { x: high, y: high }], colours),
      ],
    },
    options: {
      scales: { x: scale("measured"), y: scale("forecast") },
      onClick: (event, hit) => {
        const found = hit.find((item) => item.datasetIndex === 0);
        if (found) location.assign(points[found.index].url);
      },
      onHover: (event, hit) => event.native?.target.classList.toggle("points-at-link", hit.some((item) => item.datasetIndex === 0)),
      plugins: plugins(
        ({ raw }) => [raw.label, `measured ${formatDuration(raw.x)}`, `forecast ${formatDuration(raw.y)}, band ${formatDuration(raw.low)} to ${formatDuration(raw.high)}`],
      ),
    },
  };
}

/** Stated probability of the likeliest bin against how often it came true. */
function reliability(points, colours, font) {
  const scale = (title) => axis(title, colours, font, { min: 0, max: 1, ticks: { callback: percent } });
  return {
    type: "scatter",
    data: {
      datasets: [
        { type: "line", data: points, borderColor: colours.accent, backgroundColor: colours.accent, borderWidth: 2, pointRadius: 4 },
        level([{ x: 0, y: 0 }, { x: 1, y: 1 }], colours),
      ],
    },
    options: {
      scales: { x: scale("stated"), y: scale("came true") },
      plugins: plugins(({ raw }) => `stated ${percent(raw.x)}, came true ${percent(raw.y)}, ${raw.n} forecasts`),
    },
  };
}

/** Mean error, as a factor of time, of the surest share of forecasts. */
function risk(points, colours, font) {
  return {
    type: "scatter",
    data: { datasets: [{ type: "line", data: points, borderColor: colours.accent, backgroundColor: colours.accent, borderWidth: 2, pointRadius: 0, pointHoverRadius: 4 }] },
    options: {
      interaction: { mode: "nearest", axis: "x", intersect: false },
      scales: {
        x: axis("share believed, surest first", colours, font, { min: 0, max: 1, ticks: { callback: percent } }),
        y: axis("off by a factor of", colours, font, { min: 1, grace: "5%", ticks: { callback: (value) => `${Number(value.toPrecision(3))}×` } }),
      },
      plugins: plugins(({ raw }) => `the surest ${percent(raw.x)}: off by ${raw.y.toFixed(2)}×`),
    },
  };
}

/** Share of pairs in the right order, window after window. */
function ordering(points, colours, font) {
  const start = points[0].x;
  const span = Math.max(points.at(-1).x - start, 60_000);
  const [left, right] = [start - span * 0.03, start + span * 1.03];
  return {
    type: "scatter",
    data: {
      datasets: [
        { type: "line", data: points, borderColor: colours.accent, backgroundColor: colours.accent, borderWidth: 2, pointRadius: 3.5 },
        level([{ x: left, y: 0.5 }, { x: right, y: 0.5 }], colours),
      ],
    },
    options: {
      scales: {
        x: axis("until", colours, font, { min: left, max: right, grid: { display: false }, ticks: { callback: (value) => formatDate(value, span) } }),
        y: axis("right order", colours, font, { min: 0, max: 1, ticks: { callback: percent } }),
      },
      plugins: plugins(({ raw }) => `${percent(raw.y)} of ${raw.n} pairs, until ${formatDate(raw.x, span)}`),
    },
  };
}

export const surrogateCharts = { scatter, reliability, risk, ordering };
