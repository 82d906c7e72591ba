// Colours static source listings with the editor's own parsers. Lines stay the elements the server made.
import { cppLanguage } from "@codemirror/lang-cpp";
import { pythonLanguage } from "@codemirror/lang-python";
import { classHighlighter, highlightCode } from "@lezer/highlight";

const PARSERS = { python: pythonLanguage.parser, cpp: cppLanguage.parser, cuda: cppLanguage.parser };
const LONGEST = 200_000; // characters; past this colouring would hold up the page

export function highlightListings(root) {
  for (const block of root.querySelectorAll("pre[data-highlight]")) highlight(block);
}

function highlight(block) {
  const parser = PARSERS[block.dataset.highlight];
  block.removeAttribute("data-highlight");
  const lines = [...block.querySelectorAll(".line")];
  const code = lines.map((line) => line.textContent).join("\n");
  if (!parser || code.length > LONGEST) return;
  let number = 0;
  let content = document.createDocumentFragment();
  const finish = () => {
    lines[number]?.replaceChildren(content);
    content = document.createDocumentFragment();
    number += 1;
  };
  const put = (text, classes) => {
    if (!classes) {
      content.append(text);
      return;
    }
    const span = document.createElement("span");
    span.className = classes;
    span.textContent = text;
    content.append(span);
  };
  highlightCode(code, parser.parse(code), classHighlighter, put, finish);
  finish();
}
