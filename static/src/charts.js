// Charts. Each draws data that the page also holds as a table, and without this script only the table is there.
import { Chart, Legend, LinearScale, LineController, LineElement, LogarithmicScale, PointElement, ScatterController, Tooltip } from "chart.js";
import { colour } from "./colours.js";
import { formatDate, formatDuration, timeTicks } from "./format.js";
import { surrogateCharts } from "./surrogate-charts.js";

Chart.register(Legend, LinearScale, LineController, LineElement, LogarithmicScale, PointElement, ScatterController, Tooltip);

const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
const drawn = new Set();

function drawAll() {
  for (const chart of drawn) chart.destroy();
  drawn.clear();
  for (const canvas of document.querySelectorAll("canvas[data-chart='best-so-far']")) {
    const data = JSON.parse(document.getElementById(canvas.dataset.source).textContent);
    canvas.parentElement.hidden = false;
    drawn.add(bestSoFar(canvas, data));
  }
  for (const [name, configure] of Object.entries(surrogateCharts)) {
    for (const canvas of document.querySelectorAll(`canvas[data-chart='${name}']`)) {
      const data = JSON.parse(document.getElementById(canvas.dataset.source).textContent)[name];
      canvas.parentElement.hidden = false;
      const colours = Object.fromEntries(["line", "text", "quiet", "accent"].map((key) => [key, colour(key)]));
      const font = { family: getComputedStyle(document.body).fontFamily, size: 12 };
      const { options, ...rest } = configure(data, colours, font);
      drawn.add(new Chart(canvas, { ...rest, options: { animation: calm ? false : { duration: 200 }, maintainAspectRatio: false, ...options } }));
    }
  }
}

/** A step line of the best time so far, up to now, and a level line per baseline. Times are seconds. */
function bestSoFar(canvas, { points, baselines }) {
  const now = Date.now();
  const start = Math.min(...points.map((point) => point.at));
  const margin = Math.max((now - start) * 0.02, 1000);
  const left = start - margin;
  const steps = points.map((point) => ({ x: point.at, y: point.seconds, username: point.username }));
  steps.push({ x: now, y: steps.at(-1).y, username: steps.at(-1).username, isEnd: true });
  const [line, text, quiet, accent] = ["line", "text", "quiet", "accent"].map(colour);
  const dashes = { eager: [6, 4], compiled: [2, 3] };
  const labels = { eager: "reference, eager", compiled: "reference, torch.compile" };
  // A log scale over less than a factor of five has no round numbers to mark.
  const times = [...points, ...baselines].map((item) => item.seconds);
  const isWide = Math.max(...times) > 5 * Math.min(...times);
  const font = { family: getComputedStyle(document.body).fontFamily, size: 12 };
  return new Chart(canvas, {
    type: "line",
    data: {
      datasets: [
        { label: "best so far", data: steps, stepped: true, borderColor: accent, backgroundColor: accent, borderWidth: 2,
          pointRadius: steps.map((step) => (step.isEnd ? 0 : 3)), pointHoverRadius: 5 },
        ...baselines.map((baseline) => ({
          label: labels[baseline.label] ?? baseline.label,
          data: [{ x: left, y: baseline.seconds }, { x: now, y: baseline.seconds }],
          borderColor: quiet, backgroundColor: quiet, borderDash: dashes[baseline.label] ?? [4, 4], borderWidth: 1.5, pointRadius: 0,
        })),
      ],
    },
    options: {
      animation: calm ? false : { duration: 200 },
      maintainAspectRatio: false,
      interaction: { mode: "nearest", axis: "x", intersect: false },
      scales: {
        x: { type: "linear", min: left, max: now, grid: { display: false }, border: { color: line },
          ticks: { color: quiet, font, maxTicksLimit: canvas.clientWidth < 480 ? 3 : 6, maxRotation: 0, callback: (value) => formatDate(value, now - left) } },
        y: { type: isWide ? "logarithmic" : "linear", grace: "5%", grid: { color: line }, border: { display: false },
          title: { display: true, text: isWide ? "time of a call, log scale" : "time of a call", color: quiet, font },
          ticks: { color: quiet, font, ...(isWide ? timeTicks : { maxTicksLimit: 6, callback: (value) => formatDuration(value) }) } },
      },
      plugins: {
        legend: { labels: { color: text, font, boxWidth: 24, boxHeight: 1 }, align: "end" },
        tooltip: {
          filter: (item) => !item.raw.isEnd,
          callbacks: {
            title: (items) => (items.length ? new Date(items[0].raw.x).toISOString().slice(0, 16).replace("T", " ") + " UTC" : ""),
            label: (item) => `${item.raw.username ?? item.dataset.label}: ${formatDuration(item.raw.y)}`,
          },
        },
      },
    },
  });
}

drawAll();
for (const name of ["kernelhub:theme", "kernelhub:swapped"]) document.addEventListener(name, drawAll);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
