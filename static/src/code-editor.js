// The editor: CodeMirror in place of a text area, which stays the form's field.
import { indentWithTab } from "@codemirror/commands";
import { cpp } from "@codemirror/lang-cpp";
import { python } from "@codemirror/lang-python";
import { indentUnit, syntaxHighlighting } from "@codemirror/language";
import { Compartment, EditorState, Prec, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, keymap } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { basicSetup } from "codemirror";

const TAB_LEAVES_FOR = 5000; // milliseconds after Escape; any other key ends it sooner
const LANGUAGES = { python, cpp, cuda: cpp };

const markError = StateEffect.define();
const errorLine = StateField.define({
  create: () => Decoration.none,
  update(marks, transaction) {
    let next = transaction.docChanged ? Decoration.none : marks;
    for (const effect of transaction.effects) {
      if (!effect.is(markError)) continue;
      const line = transaction.state.doc.line(effect.value);
      next = Decoration.set(Decoration.line({ class: "cm-error-line" }).range(line.from));
    }
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

// Typing over a selection. Left to itself, Chrome keeps the style of what it removes by a style attribute,
// which the content security policy blocks and reports.
const overtype = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { from, to, empty } = view.state.selection.main;
    const text = event.data;
    if (event.inputType !== "insertText" || !text || empty || event.isComposing) return false;
    event.preventDefault();
    const insert = () =>
      view.state.update(view.state.replaceSelection(text), { userEvent: "input.type", scrollIntoView: true });
    const handlers = view.state.facet(EditorView.inputHandler); // closing brackets, and what else wants typed text
    if (!handlers.some((handle) => handle(view, from, to, text, insert))) view.dispatch(insert());
    return true;
  },
});

// Escape, then Tab leaves the editor, also when Escape has a completion list to close first.
function letTabLeave(view) {
  view.setTabFocusMode(TAB_LEAVES_FOR);
  return false;
}

/** Puts an editor before `textarea`, hides it, and keeps its value up to date through `sync()`. */
export function makeEditor(textarea, { language, nonce, onChange, onSubmit }) {
  const mode = new Compartment();
  const view = new EditorView({
    state: EditorState.create({
      doc: textarea.value,
      extensions: [
        Prec.highest(keymap.of([
          { key: "Mod-Enter", run: () => { onSubmit(); return true; } },
          { key: "Escape", run: letTabLeave },
        ])),
        basicSetup,
        keymap.of([indentWithTab]),
        syntaxHighlighting(classHighlighter),
        indentUnit.of("    "),
        EditorState.tabSize.of(4),
        EditorView.cspNonce.of(nonce),
        EditorView.contentAttributes.of({
          "aria-label": "Source",
          "aria-describedby": textarea.getAttribute("aria-describedby") ?? "",
          spellcheck: "false",
        }),
        EditorView.updateListener.of((update) => { if (update.docChanged) onChange(); }),
        errorLine,
        overtype,
        mode.of(LANGUAGES[language]?.() ?? []),
      ],
    }),
  });
  textarea.before(view.dom);
  textarea.hidden = true;
  return {
    text: () => view.state.doc.toString(),
    sync: () => { textarea.value = view.state.doc.toString(); },
    replace(text) {
      if (text === view.state.doc.toString()) return;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, selection: { anchor: 0 } });
    },
    setLanguage(name) {
      view.dispatch({ effects: mode.reconfigure(LANGUAGES[name]?.() ?? []) });
    },
    showError(number) {
      const { doc } = view.state;
      if (!(number >= 1 && number <= doc.lines)) return;
      const { from } = doc.line(number);
      view.dispatch({
        selection: { anchor: from },
        effects: [markError.of(number), EditorView.scrollIntoView(from, { y: "center" })],
      });
      view.focus();
    },
    focus: () => view.focus(),
  };
}
