// The messages on the screen, in the order of their times.

import { Choices } from "./choices.js";
import { renderFile } from "./files.js";
import { render } from "./markdown.js";
import { say } from "./texts.js";

const COPIED = 1500; // milliseconds

export class Messages {
  // `press` is called with the id of a message and the key of its button.
  constructor(element, press) {
    Object.assign(this, { element, press, painting: null });
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

  show({ who, id, text, at = Date.now(), buttons = [], files = [] }) {
    const entry = this.shown.get(id) ?? this.add(who, id, at);
    entry.choices?.show(buttons);
    if (entry.files.length !== files.length) {
      entry.files = files;
      entry.attached.replaceChildren(...files.map(renderFile));
    }
    if (entry.text !== text) {
      entry.text = text;
      entry.copy.hidden = !text;
      entry.body.hidden = !text;
      if (who === "mine") entry.body.textContent = text;
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
    const button = makeCopyButton();
    article.append(speaker, body, attached);
    const entry = { who, id, at, article, body, attached, copy: button, files: [], isLive: false, isAside: false };
    if (who === "theirs") {
      entry.choices = new Choices((key) => this.press(id, key));
      article.append(entry.choices.element);
    }
    article.append(button);
    button.source = () => entry.text;
    const before = this.all().reverse().find((other) => other.at <= at);
    if (before) before.article.after(article);
    else if (this.shown.size) this.first().article.before(article);
    else this.element.append(article);
    this.shown.set(id, entry);
    this.shown = new Map([...this.shown].sort(([, one], [, other]) => one.at - other.at));
    return entry;
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

// `source` returns what is copied; the button of a code block copies its code.
function makeCopyButton(source) {
  const button = make("button", "copy", say("copy"));
  button.type = "button";
  button.source = source;
  return button;
}

async function copy(button) {
  const text = button.source();
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    copyBySelection(text); // a page without HTTPS, reached by a plain address, has no clipboard
  }
  button.textContent = say("copied");
  setTimeout(() => (button.textContent = say("copy")), COPIED);
}

function copyBySelection(text) {
  const area = make("textarea", "quiet");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
