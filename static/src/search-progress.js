// Best so far against what was used: a step line, the starter, and the band of random draws.
import { formatDuration } from "./format.js";

const clock = (seconds) => (seconds < 90 ? `${Math.round(seconds)}\u202fs` : seconds < 5400 ? `${Math.round(seconds / 60)}\u202fmin` : `${Number((seconds / 3600).toPrecision(3))}\u202fh`);
const AXES = {
  measurements: { title: "measurements", text: (value) => (Number.isInteger(value) ? String(value) : "") },
  device_seconds: { title: "device time", text: clock },
  elapsed: { title: "time, pauses left out", text: clock },
  dollars: { title: "money for language models", text: (value) => `$${Number(value.toPrecision(3))}` },
};

export function progressChart(data, axis, { colours, font }) {
  const { accent, quiet, line, band } = colours;
  const bare = { pointRadius: 0, pointHitRadius: 0 };
  const chart = {
    type: "line",
    data: {
      datasets: [
        { label: "best so far", stepped: true, borderColor: accent, backgroundColor: accent, borderWidth: 2, pointRadius: 2.5, pointHoverRadius: 5, order: 0 },
        { label: "starter", borderColor: quiet, borderDash: [6, 4], borderWidth: 1.5, ...bare, order: 1 },
        { label: "random, expected", borderColor: quiet, borderDash: [2, 3], borderWidth: 1.5, ...bare, order: 2 },
        { label: "random, low", borderColor: band, borderWidth: 0, ...bare, order: 3 },
        { label: "random, high", borderColor: band, backgroundColor: band, borderWidth: 0, fill: "-1", ...bare, order: 4 },
      ],
    },
    options: {
      animation: false,
      maintainAspectRatio: false,
      interaction: { mode: "nearest", axis: "x", intersect: false },
      scales: {
        x: { type: "linear", min: 0, grid: { display: false }, border: { color: line }, title: { display: true, color: quiet, font }, ticks: { color: quiet, font, maxTicksLimit: 8, maxRotation: 0 } },
        y: { grace: "5%", grid: { color: line }, border: { display: false }, title: { display: true, color: quiet, font }, ticks: { color: quiet, font, maxTicksLimit: 6, callback: (value) => (value ? formatDuration(value) : "0") } },
      },
      plugins: {
        legend: { display: false },
        tooltip: {
          filter: (item) => item.datasetIndex === 0,
          callbacks: {
            title: () => "",
            label: ({ raw }) => [`candidate ${raw.step.number}: ${formatDuration(raw.y)}`, `after ${raw.step.measurements} measurements, ${clock(raw.step.device_seconds)} of device time`],
          },
        },
      },
    },
  };
  fill(chart, data, axis);
  return chart;
}

export function updateProgress(chart, data, axis) {
  fill({ data: chart.data, options: chart.options }, data, axis);
  chart.update("none");
}

function fill({ data: { datasets }, options }, data, axis) {
  const { title, text } = AXES[axis];
  const best = data.steps.map((step) => ({ x: step[axis], y: step.seconds, step }));
  const end = best.at(-1)?.x ?? 1;
  const band = data.bandAlong(axis);
  const upto = (points) => points?.filter((point) => point.x <= end * 1.0001) ?? [];
  const level = data.starter ? [{ x: 0, y: data.starter }, { x: end, y: data.starter }] : [];
  const all = [best, level, upto(band?.expected), upto(band?.low), upto(band?.high)];
  all.forEach((points, place) => { datasets[place].data = points; });
  const times = all.flat().map((point) => point.y);
  options.scales.x.display = options.scales.y.display = times.length > 0;
  // A log scale over less than a factor of five has no round numbers to mark.
  const [low, high] = [Math.min(...times), Math.max(...times)];
  const isWide = high > 5 * low;
  // Equal times, but for their last digit, would be stretched to the whole height.
  const isFlat = high < 1.02 * low;
  options.scales.y.suggestedMin = isFlat ? 0.9 * low : undefined;
  options.scales.y.suggestedMax = isFlat ? 1.1 * high : undefined;
  options.scales.x.max = end * 1.02 || 1;
  options.scales.x.title.text = title;
  options.scales.x.ticks.callback = text;
  options.scales.y.type = isWide ? "logarithmic" : "linear";
  options.scales.y.title.text = isWide ? "time of a call, log scale" : "time of a call";
}
