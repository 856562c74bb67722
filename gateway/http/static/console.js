// The talk: a line to the house that mends itself, and what was said on it.

import { render } from "./markdown.js";

const SIGN_LASTS = 6000; // the house repeats the sign of its work more often than that
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 15000;
const KEPT = 200; // messages that a reload of this tab finds again

const [talk, form, words, send, stop, sign, line, greeting] = [
  "talk", "form", "words", "send", "stop", "sign", "line", "greeting",
].map((id) => document.getElementById(id));

const shown = new Map(); // id -> {who, id, text, article}
const unsent = new Map(); // id -> text: repeated until the house has stored it
let socket = null;
let pause = FIRST_PAUSE;
let signTimer = 0;
let isWaiting = false;
let painting = null;

function connect() {
  socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/console`);
  socket.onopen = () => {
    pause = FIRST_PAUSE;
    tellLine(true, "connected");
    write({ type: "hello" });
    repeat();
  };
  socket.onmessage = (event) => hear(JSON.parse(event.data));
  socket.onclose = () => {
    tellLine(false, "not connected, trying again");
    setTimeout(connect, pause);
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  };
}

function hear(news) {
  if (news.type === "ack") {
    unsent.delete(news.id);
    shown.get(news.id)?.article.classList.remove("unsent");
    keep();
  } else if (news.type === "typing") {
    showSign(true);
  } else if (news.type === "error") {
    tellLine(true, news.text);
    setTimeout(repeat, 2000);
  } else if (news.type === "message" || news.type === "edit") {
    showAnswer(news);
    write({ type: "got", key: news.key });
  }
}

function say(text) {
  const id = makeId();
  unsent.set(id, text);
  show("mine", id, text).article.classList.add("unsent");
  keep();
  write({ type: "message", id, text });
  setWaiting(true);
  scrollDown();
}

function repeat() {
  for (const [id, text] of unsent) write({ type: "message", id, text });
}

function write(fields) {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(fields));
}

function showAnswer(news) {
  const isAtEnd = talk.scrollHeight - talk.scrollTop - talk.clientHeight < 80;
  const entry = show("theirs", news.id, news.text);
  entry.article.classList.toggle("live", news.live);
  entry.article.setAttribute("aria-busy", String(news.live));
  showSign(false);
  if (news.live) {
    setWaiting(true);
  } else {
    setWaiting(false);
    keep();
  }
  if (isAtEnd) requestAnimationFrame(scrollDown);
}

function show(who, id, text) {
  let entry = shown.get(id);
  if (!entry) {
    greeting.hidden = true;
    const article = document.createElement("article");
    article.className = who;
    const speaker = document.createElement("span");
    speaker.className = "quiet";
    speaker.textContent = who === "mine" ? "You:" : "Talaria:";
    const body = document.createElement("div");
    body.className = "body";
    article.append(speaker, body);
    talk.append(article);
    entry = { who, id, article, body };
    shown.set(id, entry);
  }
  entry.text = text;
  if (who === "mine") entry.body.textContent = text;
  else paint(entry);
  return entry;
}

// A growing answer may change more often than a screen can show it.
function paint(entry) {
  if (painting) return painting.add(entry);
  painting = new Set([entry]);
  requestAnimationFrame(() => {
    for (const { body, text } of painting) body.replaceChildren(render(text));
    painting = null;
  });
}

function showSign(isOn) {
  clearTimeout(signTimer);
  sign.hidden = !isOn;
  if (isOn) signTimer = setTimeout(() => showSign(false), SIGN_LASTS);
}

function setWaiting(isOn) {
  isWaiting = isOn;
  stop.hidden = !isOn;
}

function tellLine(isUp, text) {
  line.textContent = text;
  line.dataset.isUp = isUp ? "yes" : "no";
}

function scrollDown() {
  talk.scrollTop = talk.scrollHeight;
}

function makeId() {
  // randomUUID is there in secure contexts only, and a home may be reached by plain address.
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}

// What this tab has shown and not yet sent survives a reload, and ends with the tab.
function keep() {
  const entries = [...shown.values()].slice(-KEPT).map(({ who, id, text }) => ({ who, id, text }));
  try {
    sessionStorage.setItem("talk", JSON.stringify({ entries, unsent: [...unsent] }));
  } catch (error) {
    console.warn("This tab can't keep the talk over a reload:", error);
  }
}

function recall() {
  const kept = JSON.parse(sessionStorage.getItem("talk") ?? '{"entries":[],"unsent":[]}');
  for (const { who, id, text } of kept.entries) show(who, id, text);
  for (const [id, text] of kept.unsent) {
    unsent.set(id, text);
    shown.get(id)?.article.classList.add("unsent");
  }
  requestAnimationFrame(() => requestAnimationFrame(scrollDown));
}

function fitInput() {
  words.style.height = "auto";
  words.style.height = `${words.scrollHeight}px`;
  send.disabled = !words.value.trim();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const text = words.value.trim();
  if (!text) return;
  words.value = "";
  fitInput();
  say(text);
});

words.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    form.requestSubmit();
  } else if (event.key === "Escape" && isWaiting) {
    say("/stop");
  }
});
words.addEventListener("input", fitInput);
stop.addEventListener("click", () => say("/stop"));

recall();
fitInput();
connect();
words.focus();
