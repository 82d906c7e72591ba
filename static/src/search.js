// The page of a search: charts that grow by what came after the last number, and parts that are read anew.
import { Chart, Filler, LinearScale, LineController, LineElement, LogarithmicScale, PointElement, ScatterController, Tooltip } from "chart.js";
import { coloursOf } from "./colours.js";
import { follow } from "./search-follow.js";
import { progressChart, updateProgress } from "./search-progress.js";
import { scatterChart, updateScatter } from "./search-scatter.js";
import { SearchData } from "./search-data.js";
import { surrogateCharts } from "./surrogate-charts.js";

Chart.register(Filler, LinearScale, LineController, LineElement, LogarithmicScale, PointElement, ScatterController, Tooltip);

const NAMES = ["line", "text", "quiet", "accent", "band", "bad", "warn"];
const box = document.getElementById("search-charts");
const data = box && new SearchData(box.dataset.url);
let charts = {};

function look() {
  return { colours: coloursOf(...NAMES), font: { family: getComputedStyle(document.body).fontFamily, size: 12 } };
}

const axis = () => document.querySelector("#progress-axis input:checked")?.value ?? "measurements";

function draw() {
  for (const chart of Object.values(charts)) chart.destroy();
  charts = {};
  const style = look();
  const make = (id, configure) => {
    const canvas = document.getElementById(id);
    canvas.parentElement.hidden = false;
    return new Chart(canvas, configure(style));
  };
  charts.progress = make("progress-chart", (style) => progressChart(data, axis(), style));
  charts.scatter = make("candidates-chart", (style) => scatterChart(data, style));
  drawForecasts();
  describe();
}

// The forecasts lie in a part of the page that is swapped as a whole.
function drawForecasts() {
  charts.forecasts?.destroy();
  delete charts.forecasts;
  const canvas = document.getElementById("forecasts-chart");
  if (!canvas) return;
  const columns = JSON.parse(document.getElementById("forecasts-data").textContent);
  const points = columns.number.map((number, place) => ({
    x: columns.seconds[place], y: columns.forecast[place], low: columns.low[place], high: columns.high[place],
    label: `candidate ${number}`, url: `${data.candidate}${number}/`,
  }));
  canvas.parentElement.hidden = false;
  const { colours, font } = look();
  const { options, ...rest } = surrogateCharts.scatter(points, colours, font);
  charts.forecasts = new Chart(canvas, { ...rest, options: { animation: false, maintainAspectRatio: false, ...options } });
}

async function readOn() {
  const changed = await data.read();
  if (!charts.progress) begin();
  else if (changed) grow();
}

function begin() {
  draw();
  document.getElementById("progress-axis").addEventListener("change", () => {
    updateProgress(charts.progress, data, axis());
    describe();
  });
  document.addEventListener("kernelhub:theme", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}

function grow() {
  updateProgress(charts.progress, data, axis());
  updateScatter(charts.scatter, data);
  describe();
}

function describe() {
  document.getElementById("thinned-note").hidden = !data.isThinned;
  const note = document.getElementById("band-note");
  note.textContent = data.bandNote(axis());
  note.hidden = !note.textContent;
  document.getElementById("best-key").hidden = !data.steps.length;
  document.getElementById("starter-key").hidden = !data.starter;
  document.getElementById("random-key").hidden = !data.bandAlong(axis());
  for (const { canvas, options } of [charts.progress, charts.scatter]) {
    canvas.dataset.seq = data.seq;
    // Without a time there are no axes either: a sentence stands in the chart's place.
    const chart = canvas.parentElement;
    chart.hidden = !options.scales.y.display;
    chart.nextElementSibling.hidden = !chart.hidden;
  }
}

if (box) follow(box.dataset.run, readOn, () => { if (charts.progress) drawForecasts(); });
