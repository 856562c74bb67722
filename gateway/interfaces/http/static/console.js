// The talk: a line to the house that mends itself, and what was said on it.

import { Choices } from "./choices.js";
import { render } from "./markdown.js";

const SIGN_LASTS = 6000; // the house repeats the sign of its work more often than that
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 15000;
const KEPT = 200; // messages that a reload of this tab finds again
const STORE = "talk 2"; // the number is that of the form in which they are kept

const [talk, form, words, send, stop, sign, line, greeting, leave] = [
  "talk", "form", "words", "send", "stop", "sign", "line", "greeting", "leave",
].map((id) => document.getElementById(id));

const shown = new Map(); // id -> {who, id, text, buttons, isLive, isAside, article, body, choices}
const unsent = new Map(); // id -> line: repeated until the house has stored it
let socket = null;
let pause = FIRST_PAUSE;
let signTimer = 0;
let isWaiting = false;
let isAsking = false; // the newest message waits for its reader, whose turn still runs
let painting = null;
let isLoggedOut = false;

function connect() {
  if (isLoggedOut) return;
  socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/console`);
  socket.onopen = () => {
    pause = FIRST_PAUSE;
    tellLine(true, "connected");
    write({ type: "hello", buttons: true });
    forgetPassing();
    repeat();
  };
  socket.onmessage = (event) => hear(JSON.parse(event.data));
  socket.onclose = () => {
    tellLine(false, "not connected, trying again");
    checkLogin();
    setTimeout(connect, pause);
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  };
}

function checkLogin() {
  fetch("/", { method: "HEAD" }).then((answer) => {
    isLoggedOut = answer.status === 401;
    if (isLoggedOut) tellLine(false, "logged out: open the address that talaria run printed");
  }).catch(() => {}); // the gateway is off, and the page goes on trying
}

function logOut() {
  sessionStorage.removeItem(STORE);
  fetch("/logout", { method: "POST" }).then(() => socket.close());
}

function hear(news) {
  if (news.type === "ack") {
    unsent.delete(news.id);
    shown.get(news.id)?.article.classList.remove("unsent");
    keep();
  } else if (news.type === "typing") {
    showSign(true);
    setWaiting(true);
  } else if (news.type === "seen") {
    shown.get(news.id)?.article.classList.toggle("seen", news.seen);
  } else if (news.type === "error") {
    tellLine(true, news.text);
    setTimeout(repeat, 2000);
  } else if (news.type === "message" || news.type === "edit") {
    showAnswer(news);
    write({ type: "got", key: news.key });
  } else if (news.type === "delete") {
    takeAway(news.id);
    keep();
    write({ type: "got", key: news.key });
  }
}

function say(text) {
  const id = makeId();
  show("mine", id, text).article.classList.add("unsent");
  insist({ type: "message", id, text });
  setWaiting(true);
  scrollDown();
}

function press(message, key) {
  insist({ type: "press", id: makeId(), message, key });
  words.focus();
}

function insist(line) {
  isAsking = false;
  unsent.set(line.id, line);
  keep();
  write(line);
}

function repeat() {
  for (const said of unsent.values()) write(said);
}

function write(fields) {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(fields));
}

function showAnswer(news) {
  const isAtEnd = talk.scrollHeight - talk.scrollTop - talk.clientHeight < 80;
  const entry = show("theirs", news.id, news.text, news.buttons);
  entry.isLive = news.live;
  entry.isAside = news.live && news.silent;
  entry.article.classList.toggle("live", entry.isLive);
  entry.article.classList.toggle("aside", entry.isAside);
  entry.article.setAttribute("aria-busy", String(news.live));
  showSign(false);
  setWaiting(news.live);
  if (!news.live) {
    isAsking = news.buttons.length > 0;
    for (const other of shown.values()) other.choices?.release();
    keep();
  }
  if (isAtEnd) requestAnimationFrame(scrollDown);
}

function show(who, id, text, buttons = []) {
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
    entry = { who, id, article, body, isLive: false, isAside: false };
    if (who === "theirs") {
      entry.choices = new Choices((key) => press(id, key));
      article.append(entry.choices.element);
    }
    talk.append(article);
    shown.set(id, entry);
  }
  entry.text = text;
  entry.buttons = buttons;
  entry.choices?.show(buttons);
  if (who === "mine") entry.body.textContent = text;
  else paint(entry);
  return entry;
}

function takeAway(id) {
  shown.get(id)?.article.remove();
  shown.delete(id);
}

// What was passing when the line broke may be over; what is not is shown again.
function forgetPassing() {
  for (const { id, isAside, article } of [...shown.values()]) {
    article.classList.remove("seen");
    if (isAside) takeAway(id);
  }
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
  sign.hidden = !isOn || isAsking;
  if (isOn) signTimer = setTimeout(endSign, SIGN_LASTS);
}

function endSign() {
  showSign(false);
  setWaiting(false);
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

// What this tab has shown and not yet sent survives a reload, and ends with the tab. What still
// grows is not kept: the house shows it again.
function keep() {
  const final = [...shown.values()].filter((entry) => !entry.isLive).slice(-KEPT);
  const entries = final.map(({ who, id, text, buttons }) => ({ who, id, text, buttons }));
  try {
    sessionStorage.setItem(STORE, JSON.stringify({ entries, unsent: [...unsent.values()] }));
  } catch (error) {
    console.warn("This tab can't keep the talk over a reload:", error);
  }
}

function recall() {
  const kept = JSON.parse(sessionStorage.getItem(STORE) ?? '{"entries":[],"unsent":[]}');
  for (const { who, id, text, buttons } of kept.entries) show(who, id, text, buttons);
  for (const said of kept.unsent) {
    unsent.set(said.id, said);
    shown.get(said.id)?.article.classList.add("unsent");
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
leave.addEventListener("click", logOut);

recall();
fitInput();
connect();
words.focus();
