// Pages with source text: coloured listings everywhere, and the editor on the submit page.
import { highlightListings } from "./highlight.js";
import { linkListings } from "./listing.js";
import { startSubmitPage } from "./submit-page.js";

// Read at once: the element is known only while this script runs. The nonce allows the editor's style sheet.
const nonce = document.currentScript?.nonce ?? "";

highlightListings(document);
linkListings(document);
for (const name of ["kernelhub:swapped", "htmx:load"]) {
  document.addEventListener(name, (event) => linkListings(event.detail.elt ?? event.detail));
}

const form = document.getElementById("submit-form");
if (form) startSubmitPage(form, nonce);
