// Every candidate in the order of considering: shape and colour say what became of it. A click opens it.
import { formatDuration, timeTicks } from "./format.js";

const SHAPES = {
  skipped: (c) => ({ pointStyle: "cross", borderColor: c.quiet, pointRadius: 3 }),
  dropped: (c) => ({ pointStyle: "line", borderColor: c.quiet, pointRadius: 3 }),
  deferred: (c) => ({ pointStyle: "triangle", borderColor: c.warn, backgroundColor: "transparent", pointRadius: 4 }),
  failed: (c) => ({ pointStyle: "crossRot", borderColor: c.bad, borderWidth: 1.5, pointRadius: 4 }),
  measuring: (c) => ({ pointStyle: "circle", borderColor: c.accent, backgroundColor: "transparent", borderWidth: 1.5, pointRadius: 4 }),
  audited: (c) => ({ pointStyle: "rectRot", borderColor: c.text, backgroundColor: c.text, pointRadius: 4.5 }),
  measured: (c) => ({ pointStyle: "circle", borderColor: c.accent, backgroundColor: c.accent, pointRadius: 3 }),
};
const NAMES = Object.keys(SHAPES);
const grouped = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, "\u202f");

export function scatterChart(data, { colours, font }) {
  const { quiet, line } = colours;
  const chart = {
    type: "scatter",
    data: { datasets: NAMES.map((name, place) => ({ label: name, borderWidth: 1, hoverRadius: 6, order: NAMES.length - place, ...SHAPES[name](colours) })) },
    options: {
      animation: false,
      parsing: false,
      maintainAspectRatio: false,
      onClick: (event, hit, { data: { datasets } }) => {
        if (hit.length) location.assign(`${data.candidate}${datasets[hit[0].datasetIndex].data[hit[0].index].x}/`);
      },
      onHover: (event, hit) => event.native?.target.classList.toggle("points-at-link", hit.length > 0),
      scales: {
        x: { type: "linear", grid: { display: false }, border: { color: line }, title: { display: true, text: "candidate, in the order of considering", color: quiet, font }, ticks: { color: quiet, font, maxTicksLimit: 8, maxRotation: 0, precision: 0, callback: (value) => (Number.isInteger(value) && value >= 0 ? grouped(value) : "") } },
        y: { type: "logarithmic", grid: { color: line }, border: { display: false }, title: { display: true, text: "time, or else forecast", color: quiet, font },
          ticks: { color: quiet, font, ...timeTicks } },
      },
      plugins: { legend: { display: false }, tooltip: { callbacks: { label: label } } },
    },
  };
  fill(chart.data.datasets, chart.options.scales, data);
  return chart;
}

export function updateScatter(chart, data) {
  fill(chart.data.datasets, chart.options.scales, data);
  chart.update("none");
}

function fill(datasets, scales, data) {
  const range = span(data);
  scales.x.display = scales.y.display = range !== null;
  const [low, high] = range ?? [1e-3, 1e-2];
  const kinds = Object.fromEntries(NAMES.map((name) => [name, []]));
  for (const [x, { kind, seconds, forecast }] of data.points) {
    const name = data.kinds[kind];
    const height = name === "failed" ? high * 1.3 : seconds ?? forecast; // failed ones: a row above all times
    if (height === null) continue;
    const y = name === "failed" ? height : Math.min(Math.max(height, low), high);
    kinds[name].push({ x, y, seconds, forecast });
  }
  datasets.forEach((dataset) => { dataset.data = kinds[dataset.label]; });
  scales.x.min = -Math.max(data.highest, 1) * 0.02; // the first one's shape is drawn whole
  scales.x.max = Math.ceil(Math.max(data.highest, 1) * 1.02);
  scales.y.min = low / 1.1;
  scales.y.max = high * (kinds.failed.length ? 1.5 : 1.1);
}

// The range of what was measured, with room for forecasts: a first forecast, which knows nothing, may lie far away.
function span(data) {
  const all = [...data.points.values()];
  const times = all.map((point) => point.seconds).filter((value) => value !== null);
  if (times.length) return [least(times) / 2, most(times) * 2];
  const forecasts = all.map((point) => point.forecast).filter((value) => value !== null);
  return forecasts.length ? [least(forecasts), most(forecasts)] : null;
}

const least = (values) => values.reduce((a, b) => Math.min(a, b));
const most = (values) => values.reduce((a, b) => Math.max(a, b));

function label({ raw, dataset }) {
  // In the words of the legend: what is deferred while a search goes on is not measured once it has ended.
  const name = document.querySelector(`[data-kind="${dataset.label}"]`)?.textContent.trim() ?? dataset.label;
  const lines = [`candidate ${raw.x}: ${name}`];
  if (raw.seconds) lines.push(`measured ${formatDuration(raw.seconds)}`);
  if (raw.forecast) lines.push(`forecast ${formatDuration(Number(raw.forecast.toPrecision(2)))}`);
  return lines;
}
