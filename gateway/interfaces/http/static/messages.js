// The messages on the screen, in the order of their times, and what can be done with each.

import { Choices } from "./choices.js";
import { renderFile } from "./files.js";
import { render } from "./markdown.js";
import { say } from "./texts.js";

const COPIED = 1500; // milliseconds
const AGAIN = "/retry";
const SHAPES = {
  copy: "M9 9h10v10H9ZM5 15V5h10",
  again: "M5 12a7 7 0 1 0 2-5L5 9M5 4v5h5",
  edit: "M4 20l1-4L16 5l3 3L8 19Z",
  readAloud: "M4 10v4h3l4 4V6L7 10Zm11-1a4 4 0 0 1 0 6m2.5-8.5a8 8 0 0 1 0 11",
  good: "M7 11v9H4v-9ZM7 11l4-8a2.5 2.5 0 0 1 2.5 2.5V9H19a1.8 1.8 0 0 1 1.8 2l-1 7a2 2 0 0 1-2 2H7",
  bad: "M17 13V4h3v9ZM17 13l-4 8a2.5 2.5 0 0 1-2.5-2.5V15H5a1.8 1.8 0 0 1-1.8-2l1-7a2 2 0 0 1 2-2H17",
  why: "M9.5 9a2.5 2.5 0 1 1 3.5 2.3c-.7.3-1 .8-1 1.7m0 3v.01M12 3.5a8.5 8.5 0 1 1 0 17 8.5 8.5 0 0 1 0-17Z",
};

export class Messages {
  // `press` is called with the id of a message and the key of its button, `retry` and `edit` with
  // the text of a message, `judge` with a turn and what the reader thinks of its answer.
  constructor(element, { press, retry, edit, judge }) {
    Object.assign(this, { element, press, retry, edit, judge, painting: null, zone: undefined });
    this.shown = new Map(); // id -> {who, id, at, text, isLive, isAside, article, body, choices}
    element.addEventListener("click", ({ target }) => {
      if (target.className === "copy") copy(target);
    });
  }

  get oldest() {
    return Math.min(...[...this.shown.values()].map(({ at }) => at));
  }

  get(id) {
    return this.shown.get(id);
  }

  all() {
    return [...this.shown.values()];
  }

  show({ who, id, text, at = Date.now(), buttons = [], files = [], platform = "", turn = null, verdict }) {
    const entry = this.shown.get(id) ?? this.add(who, id, at);
    if (platform) entry.place.textContent = ` · ${platform}`;
    if (turn) entry.why.href = `/turns/${turn}`;
    entry.why.hidden = !turn || who === "mine";
    if (verdict !== undefined) showVerdict(Object.assign(entry, { turn, verdict }));
    entry.choices?.show(buttons);
    if (entry.files.length !== files.length) {
      entry.files = files;
      entry.attached.replaceChildren(...files.map(renderFile));
    }
    if (entry.text !== text) {
      entry.text = text;
      entry.deeds.hidden = !text;
      entry.body.hidden = !text;
      if (who === "mine") entry.body.textContent = text === AGAIN ? `↻ ${say("again")}` : text;
      else this.paint(entry);
    }
    return entry;
  }

  add(who, id, at) {
    const article = document.createElement("article");
    article.className = who;
    const speaker = make("span", "quiet", who === "mine" ? say("you") : "Talaria:");
    const body = make("div", "body");
    const attached = make("div", "attached");
    article.append(speaker, body, attached);
    const entry = { who, id, at, article, body, attached, files: [], isLive: false, isAside: false };
    if (who === "theirs") {
      entry.choices = new Choices((key) => this.press(id, key));
      article.append(entry.choices.element);
    }
    article.append(this.makeMeta(entry));
    const before = this.all().reverse().find((other) => other.at <= at);
    if (before) before.article.after(article);
    else if (this.shown.size) this.first().article.before(article);
    else this.element.append(article);
    this.shown.set(id, entry);
    this.shown = new Map([...this.shown].sort(([, one], [, other]) => one.at - other.at));
    return entry;
  }

  // The line below a message: when and where it was said, and its deeds.
  makeMeta(entry) {
    const meta = make("div", "meta");
    const moment = document.createElement("time");
    const time = new Date(entry.at);
    moment.dateTime = time.toISOString();
    moment.title = time.toLocaleString(document.documentElement.lang || undefined, { timeZone: this.zone });
    moment.textContent = tellTime(time, this.zone);
    entry.place = make("span", "place");
    entry.deeds = make("span", "deeds");
    entry.deeds.setAttribute("role", "group");
    entry.deeds.setAttribute("aria-label", say("deeds"));
    const copying = makeDeed("copy", () => copyText(entry.text).then(() => flash(copying, say("copied"))));
    entry.why = makeDeed("why");
    if (entry.who === "mine") {
      entry.deeds.append(copying, makeDeed("edit", () => this.edit(entry.text)));
    } else {
      entry.deeds.append(copying, makeDeed("again", () => this.retry(AGAIN)));
      if (globalThis.speechSynthesis) {
        const reading = makeDeed("readAloud", () => readAloud(entry.body.innerText, reading));
        entry.deeds.append(reading);
      }
      entry.thumbs = ["good", "bad"].map((name) => makeDeed(name, () => {
        this.judge(entry.turn, entry.verdict === name ? "none" : name);
      }));
      showVerdict(entry);
      entry.deeds.append(...entry.thumbs, entry.why);
    }
    meta.append(moment, entry.place, entry.deeds);
    return meta;
  }

  // What the reader thinks of an answer stands below each message of it.
  showJudged(turn, verdict) {
    for (const entry of this.all()) {
      if (entry.turn === turn && entry.verdict) showVerdict(Object.assign(entry, { verdict }));
    }
  }

  // Another session is open now: only what is not stored yet stays.
  clear() {
    for (const { id, article } of this.all()) {
      if (!article.classList.contains("unsent")) this.remove(id);
    }
  }

  first() {
    return this.shown.values().next().value;
  }

  remove(id) {
    this.shown.get(id)?.article.remove();
    this.shown.delete(id);
  }

  // A growing answer may change more often than a screen can show it.
  paint(entry) {
    if (this.painting) return this.painting.add(entry);
    this.painting = new Set([entry]);
    requestAnimationFrame(() => {
      for (const { body, text } of this.painting) body.replaceChildren(render(text, makeCopyButton));
      this.painting = null;
    });
  }
}

function make(name, kind, text = "") {
  const element = document.createElement(name);
  element.className = kind;
  element.textContent = text;
  return element;
}

// A button of a message, or without `act` a link.
function makeDeed(name, act) {
  const deed = make(act ? "button" : "a", "deed");
  deed.dataset.deed = name;
  const drawing = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  drawing.setAttribute("viewBox", "0 0 24 24");
  drawing.setAttribute("class", "icon");
  drawing.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", SHAPES[name]);
  drawing.append(path);
  deed.append(drawing);
  deed.title = say(name);
  deed.setAttribute("aria-label", say(name));
  if (act) {
    deed.type = "button";
    deed.addEventListener("click", act);
  }
  return deed;
}

// Only an answer that used a skill has a verdict; a thumb on another would teach nothing.
function showVerdict({ thumbs = [], verdict }) {
  for (const deed of thumbs) {
    deed.hidden = !verdict;
    deed.setAttribute("aria-pressed", String(deed.dataset.deed === verdict));
  }
}

function flash(deed, text) {
  const before = deed.title;
  deed.title = text;
  deed.setAttribute("aria-label", text);
  deed.dataset.said = text;
  setTimeout(() => {
    deed.title = before;
    deed.setAttribute("aria-label", before);
    delete deed.dataset.said;
  }, COPIED);
}

function readAloud(text, deed) {
  const wasReading = speechSynthesis.speaking;
  speechSynthesis.cancel();
  if (wasReading) return;
  const spoken = new SpeechSynthesisUtterance(text);
  spoken.lang = document.documentElement.lang;
  const name = (key) => {
    deed.title = say(key);
    deed.setAttribute("aria-label", say(key));
  };
  spoken.onstart = () => name("stopReading");
  spoken.onend = spoken.onerror = () => name("readAloud");
  speechSynthesis.speak(spoken);
}

// The clock of the person's settings, as on all other pages; the browser's may be another.
function tellTime(time, timeZone) {
  const language = document.documentElement.lang || undefined;
  const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone };
  const nameDay = (one) => one.toLocaleDateString("en", { timeZone });
  const isToday = nameDay(time) === nameDay(new Date());
  return time.toLocaleString(language, isToday ? clock : { day: "numeric", month: "short", ...clock });
}

// `source` returns what is copied: the code of a block.
function makeCopyButton(source) {
  const button = make("button", "copy", say("copy"));
  button.type = "button";
  button.source = source;
  return button;
}

async function copy(button) {
  await copyText(button.source());
  button.textContent = say("copied");
  setTimeout(() => (button.textContent = say("copy")), COPIED);
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    copyBySelection(text); // a page without HTTPS, reached by a plain address, has no clipboard
  }
}

function copyBySelection(text) {
  const area = make("textarea", "quiet");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
