// On every page: htmx, the theme switch, live parts.
import htmx from "htmx.org";
import { watchLiveParts } from "./live.js";
import { startThemeSwitch } from "./theme-switch.js";

window.htmx = htmx;

startThemeSwitch();
watchLiveParts(document);
// htmx adds parts later: a run below the submit form, a board of another device.
document.addEventListener("htmx:load", (event) => watchLiveParts(event.detail.elt));
