// Drafts, one per task, language and kind of device, kept in this browser only.
const PREFIX = "kernelhub.draft.";
const MOST = 40; // drafts kept; the oldest go first

export function readDraft(key) {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + key))?.text;
  } catch {
    return undefined;
  }
}

/** Returns whether it was stored: storage may be full or forbidden. */
export function writeDraft(key, text) {
  try {
    localStorage.setItem(PREFIX + key, JSON.stringify({ text, at: Date.now() }));
    dropOldest();
    return true;
  } catch {
    return false;
  }
}

export function dropDraft(key) {
  try {
    localStorage.removeItem(PREFIX + key);
  } catch {
    // Nothing was kept, then.
  }
}

function dropOldest() {
  const keys = Object.keys(localStorage).filter((key) => key.startsWith(PREFIX));
  if (keys.length <= MOST) return;
  const age = (key) => {
    try {
      return JSON.parse(localStorage.getItem(key)).at ?? 0;
    } catch {
      return 0;
    }
  };
  keys.sort((a, b) => age(a) - age(b));
  for (const key of keys.slice(0, keys.length - MOST)) localStorage.removeItem(key);
}
