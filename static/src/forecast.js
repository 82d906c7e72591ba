// While somebody writes: what the surrogate thinks of the text so far. One socket, one text under way at a time.
const MOST_CHARACTERS = 16_000; // one more is sent of longer texts, and the server says that it is too long
const QUIET = 600; // milliseconds without a key stroke before a text is sent
const PAUSE = 5000; // milliseconds before a text that a busy forecaster did not answer is sent once more
const FIRST_WAIT = 1000; // milliseconds before the first reconnect; doubles up to LONGEST_WAIT
const LONGEST_WAIT = 30000;
const CLOSED_FOR_GOOD = [4400, 4401]; // not logged in, or the page and the server do not understand each other

/** `read()` gives {device, language, source} as they stand now. Returns what to call after every change. */
export function startForecast(task, read) {
  const box = document.getElementById("forecast");
  if (!box) return () => {};
  const body = box.querySelector("[data-forecast-body]");
  const spoken = box.querySelector("[data-forecast-sentence]");
  let socket;
  let timer;
  let wait = FIRST_WAIT;
  let number = 0;
  let sent = ""; // the newest text that was sent, so that none is sent twice
  box.hidden = false;

  function connect() {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    socket = new WebSocket(`${scheme}//${location.host}/ws/forecast/`);
    socket.addEventListener("open", () => {
      wait = FIRST_WAIT;
      sent = "";
      send();
    });
    socket.addEventListener("message", (event) => hear(event.data));
    socket.addEventListener("close", (event) => {
      if (CLOSED_FOR_GOOD.includes(event.code)) {
        body.textContent = "No forecasts any more: load the page again, and log in if need be.";
        return;
      }
      setTimeout(connect, wait * (0.75 + Math.random() / 2));
      wait = Math.min(LONGEST_WAIT, wait * 2);
    });
  }

  function send(isRepeat = false) {
    if (socket?.readyState !== WebSocket.OPEN) return;
    const text = { task, ...read() };
    const key = JSON.stringify(text);
    if (key === sent && !isRepeat) {
      delete body.dataset.stale; // typed and taken back
      return;
    }
    sent = key;
    number += 1;
    const source = text.source.slice(0, MOST_CHARACTERS + 1);
    socket.send(JSON.stringify({ number, ...text, source, is_repeat: isRepeat }));
  }

  function hear(text) {
    const frame = JSON.parse(text);
    if (frame.number !== number) return; // of a text that is no more
    const fresh = new DOMParser().parseFromString(frame.html, "text/html");
    body.replaceChildren(...fresh.body.childNodes);
    delete body.dataset.stale;
    if (frame.ask_again) {
      // Once only, and not when a newer text went out meanwhile.
      setTimeout(() => frame.number === number && send(true), PAUSE);
    }
    // Read aloud once per pause: the first answer of two would only be cut off.
    if (frame.is_final) spoken.textContent = frame.is_forecast ? sentence(body) : body.textContent.trim();
  }

  connect();
  return () => {
    clearTimeout(timer);
    timer = setTimeout(() => send(), QUIET);
    if (body.childElementCount) body.dataset.stale = "";
  };
}

function sentence(body) {
  const time = body.querySelector(".forecast-time")?.textContent ?? "";
  return `Forecast: ${time.replace(/\s+/g, " ").trim()}`;
}
