// On every page: htmx, the theme switch, live parts.
import htmx from "htmx.org";
import { watchAges } from "./ages.js";
import { watchLiveParts } from "./live.js";
import { watchTables } from "./overflow.js";
import { startThemeSwitch } from "./theme-switch.js";

window.htmx = htmx;

startThemeSwitch();
watchLiveParts(document);
watchTables(document);
watchAges(document);
// htmx adds parts later: a run below the submit form, a board of another device.
document.addEventListener("htmx:load", (event) => {
  watchLiveParts(event.detail.elt);
  watchTables(event.detail.elt);
  watchAges(event.detail.elt);
});
// Parts that follow a search are swapped apart from htmx, and details may hold tables that had no size before.
new MutationObserver((changes) => changes.forEach(({ addedNodes }) => addedNodes.forEach((node) => {
  if (node.nodeType !== Node.ELEMENT_NODE) return;
  watchTables(node);
  watchAges(node);
}))).observe(document.getElementById("main"), { childList: true, subtree: true });
