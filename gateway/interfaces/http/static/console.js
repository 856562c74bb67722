// The conversation: a line to the gateway that repairs itself, and what was said on it.

import { Menu } from "./commands.js";
import { Chosen } from "./files.js";
import { Messages } from "./messages.js";
import { Recorder } from "./recorder.js";
import { say, setTexts } from "./texts.js";

const SIGN_LASTS = 6000; // the gateway repeats the sign of its work more often than that
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 15000;
const COMPLAINT_LASTS = 6000;
const WAITED = 60000;

const [conversation, form, words, send, stop, sign, line, greeting, earlier, picker, attach, list, menuElement, chosenElement] = [
  "conversation", "form", "words", "send", "stop", "sign", "line", "greeting", "earlier",
  "picker", "attach", "list", "menu", "chosen",
].map((id) => document.getElementById(id));

const unsent = new Map(); // id -> line: repeated until the gateway has stored it
const messages = new Messages(conversation, {
  press,
  retry: (command) => sayWords(command),
  edit: (text) => {
    words.value = text;
    fitInput();
    words.focus();
  },
  judge,
});
let begun = null; // since when everything belongs to the session on the screen
const topic = document.getElementById("topic");
const elsewhere = document.getElementById("elsewhere");
const newest = document.getElementById("newest");
let socket = null;
let pause = FIRST_PAUSE;
let signTimer = 0;
let isWaiting = false;
let isAsking = false; // the newest message waits for its reader, whose turn still runs
let isLoggedOut = false;
let isAtEnd = true; // the reader sees the newest message, and goes on seeing it

const start = await fetch("/start").then((answer) => answer.json());
// Whoever logs in next in this tab sends nothing of the one before. The number is that of the form.
const STORE = `unsent 1 ${start.user}`;
const DRAFT = `draft ${start.user}`;
setTexts(start.texts);
messages.zone = start.zone;
const menu = new Menu(menuElement, words, start.commands, fitInput);
const chosen = new Chosen(chosenElement, {
  mostBytes: start.mostBytes,
  changed: () => fitInput(),
  complain: (text) => complain(text),
});

showLinks(document.getElementById("links"), start.links);

// A link may begin a message, such as one that uses a skill; the person sends it.
const begunWords = new URLSearchParams(location.search).get("say");
if (begunWords) {
  words.value = begunWords;
  history.replaceState(null, "", "/");
  requestAnimationFrame(() => {
    fitInput();
    words.focus();
  });
}

// An owner is a stranger to their own bot in every chat that is not linked.
function showLinks(element, links) {
  element.replaceChildren(...links.map(({ command, label }) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.addEventListener("click", () => sayWords(command, []));
    return button;
  }));
  element.hidden = !links.length;
}

// An example fills the input; the person sends it, or changes it first.
for (const one of document.querySelectorAll("[data-say]")) {
  one.addEventListener("click", () => {
    words.value = one.textContent.trim();
    fitInput();
    words.focus();
  });
}

function connect() {
  // Somebody else may log in next: the page begins anew, for the one who did.
  if (isLoggedOut) {
    checkLogin();
    setTimeout(connect, LONGEST_PAUSE);
    return;
  }
  socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/console`);
  socket.onopen = () => {
    pause = FIRST_PAUSE;
    tellLine(true, say("connected"));
    write({ type: "hello", buttons: true });
    forgetPassing();
    repeat();
    readHistory();
  };
  socket.onmessage = (event) => hear(JSON.parse(event.data));
  socket.onclose = () => {
    tellLine(false, say("disconnected"));
    checkLogin();
    setTimeout(connect, pause);
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  };
}

function checkLogin() {
  fetch("/", { method: "HEAD" }).then((answer) => {
    if (isLoggedOut && answer.ok) return location.reload();
    isLoggedOut ||= answer.status === 401;
    if (isLoggedOut) tellLine(false, say("loggedOut"));
  }).catch(() => {}); // the gateway is off, and the page goes on trying
}

// The newest messages, or those before the oldest one on the screen.
async function readHistory(before) {
  const height = conversation.scrollHeight;
  const answer = await fetch(before ? `/history?before=${before}` : "/history").catch(() => null);
  if (!answer?.ok) return; // it is read again with the next connection
  const { entries, hasMore, since, title, session } = await answer.json();
  if (![null, since].includes(begun)) messages.clear();
  begun = since;
  if (topic) Object.assign(topic, { textContent: title, href: `/chats/${session}` });
  const isKnown = entries.some(({ id }) => messages.get(id));
  for (const entry of entries) {
    const known = messages.get(entry.id);
    if (!known?.isAside) messages.show(entry);
    if (known?.isLive) setLive(known, false, false);
  }
  if (before || !isKnown) earlier.hidden = !hasMore;
  greeting.hidden = messages.all().length > 0;
  requestAnimationFrame(() => requestAnimationFrame(() => {
    if (before) conversation.scrollTop += conversation.scrollHeight - height;
    else if (isAtEnd) scrollDown();
  }));
}

function hear(news) {
  if (news.type === "ack") {
    unsent.delete(news.id);
    messages.get(news.id)?.article.classList.remove("unsent");
    keep();
  } else if (news.type === "typing") {
    showElsewhere("");
    showSign(true);
    setWaiting(true);
  } else if (news.type === "news") {
    showElsewhere(news.elsewhere);
    readHistory();
    document.body.dispatchEvent(new Event("news")); // the sidebar lists the session
  } else if (news.type === "seen") {
    messages.get(news.id)?.article.classList.toggle("seen", news.seen);
  } else if (news.type === "error") {
    tellLine(true, news.text);
    setTimeout(repeat, 2000);
  } else if (news.type === "said") {
    showOwn(news);
  } else if (news.type === "message" || news.type === "edit") {
    showAnswer(news);
    write({ type: "got", key: news.key });
  } else if (news.type === "delete") {
    messages.remove(news.id);
    write({ type: "got", key: news.key });
  }
}

function sayWords(text, files = []) {
  const id = makeId();
  showOwn({ id, text, files }).article.classList.add("unsent");
  insist({ type: "message", id, text, ...(files.length ? { files } : {}) });
  setWaiting(true);
  scrollDown();
}

function showOwn({ id, text, files }) {
  greeting.hidden = true;
  const entry = messages.show({ who: "mine", id, text, files });
  entry.article.dataset.note = say("unsent");
  if (isAtEnd) scrollDown();
  return entry;
}

function press(message, key) {
  insist({ type: "press", id: makeId(), message, key });
  words.focus();
}

async function judge(turn, verdict) {
  const body = JSON.stringify({ id: turn, verdict });
  const answer = await fetch("/verdicts", { method: "POST", body }).catch(() => null);
  if (answer?.ok) return messages.showJudged(turn, verdict);
  complain(say("notJudged"));
  checkLogin();
}

function insist(said) {
  isAsking = false;
  unsent.set(said.id, { ...said, language: navigator.language });
  keep();
  write(unsent.get(said.id));
}

function repeat() {
  for (const said of unsent.values()) write(said);
}

function write(fields) {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(fields));
}

function showAnswer(news) {
  greeting.hidden = true;
  const files = news.file ? [news.file] : [];
  // What waited for this page was said before. The clocks of both computers may differ by a little.
  const at = Date.now() - news.at > WAITED ? news.at || undefined : undefined;
  const entry = messages.show({ who: "theirs", id: news.id, at, text: news.text, buttons: news.buttons, files });
  setLive(entry, news.live, news.silent);
  showSign(false);
  setWaiting(news.live);
  if (!news.live) {
    isAsking = news.buttons.length > 0;
    for (const other of messages.all()) other.choices?.release();
  }
  if (isAtEnd) requestAnimationFrame(scrollDown);
}

function setLive(entry, isLive, isSilent) {
  entry.isLive = isLive;
  entry.isAside = isLive && isSilent;
  entry.article.classList.toggle("live", entry.isLive);
  entry.article.classList.toggle("aside", entry.isAside);
  entry.article.setAttribute("aria-busy", String(isLive));
}

// What was passing when the line broke may be over; what is not is shown again.
function forgetPassing() {
  for (const { id, isAside, article } of messages.all()) {
    article.classList.remove("seen");
    if (isAside) messages.remove(id);
  }
}

// An answer in another app comes here once it is complete; until then, the page says where it grows.
function showElsewhere(name) {
  const text = name ? say("elsewhere", { name }) : "";
  if (text === elsewhere.textContent) return;
  elsewhere.textContent = text;
  elsewhere.hidden = !text;
  setWaiting(Boolean(text));
  if (isAtEnd) requestAnimationFrame(scrollDown);
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

// A complaint about a file; the state of the line comes back after it.
function complain(text) {
  const [before, isUp] = [line.textContent, line.dataset.isUp === "yes"];
  tellLine(isUp, text);
  setTimeout(() => line.textContent === text && tellLine(isUp, before), COMPLAINT_LASTS);
}

function scrollDown() {
  isAtEnd = true;
  conversation.scrollTop = conversation.scrollHeight;
}

function makeId() {
  // randomUUID is there in secure contexts only, and a home may be reached by plain address.
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}

// What this tab has not sent yet survives a reload; the rest is in the history.
function keep() {
  try {
    sessionStorage.setItem(STORE, JSON.stringify([...unsent.values()]));
  } catch (error) {
    console.warn("This tab can't keep unsent messages over a reload:", error);
  }
}

// So do the words that this tab has not sent, over a walk through the other pages.
function keepDraft() {
  try {
    sessionStorage.setItem(DRAFT, words.value);
  } catch (error) {
    console.warn("This tab can't keep a draft over a reload:", error);
  }
}

function recall() {
  words.value ||= sessionStorage.getItem(DRAFT) ?? "";
  for (const said of JSON.parse(sessionStorage.getItem(STORE) ?? "[]")) {
    unsent.set(said.id, said);
    if (said.type === "message") showOwn(said).article.classList.add("unsent");
  }
}

function fitInput() {
  keepDraft();
  words.style.height = "auto";
  words.style.height = `${words.scrollHeight}px`;
  send.disabled = !(words.value.trim() || !chosen.isEmpty) || !chosen.isReady;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  fitInput();
  if (send.disabled) return;
  const text = words.value.trim();
  words.value = "";
  sayWords(text, chosen.take());
  menu.update();
  fitInput();
});

conversation.addEventListener("scroll", () => {
  isAtEnd = conversation.scrollHeight - conversation.scrollTop - conversation.clientHeight < 80;
  newest.hidden = isAtEnd;
});
// The menu, a long message and a phone's keyboard take room from the conversation.
new ResizeObserver(() => isAtEnd && scrollDown()).observe(conversation);

words.addEventListener("keydown", (event) => {
  if (!event.isComposing && menu.handle(event.key)) {
    event.preventDefault();
  } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    form.requestSubmit();
  } else if (event.key === "Escape" && isWaiting) {
    sayWords("/stop");
  }
});
words.addEventListener("input", () => {
  fitInput();
  menu.update();
});
words.addEventListener("paste", (event) => {
  if (!event.clipboardData.files.length) return;
  event.preventDefault();
  chosen.add(event.clipboardData.files);
});
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  chosen.add(event.dataTransfer.files);
});
picker.addEventListener("change", () => {
  chosen.add(picker.files);
  picker.value = "";
  words.focus();
});
attach.addEventListener("click", () => picker.click());
const recorder = new Recorder(document.getElementById("record"), {
  tell: (text) => tellLine(true, text || say("connected")),
  complain: (text) => complain(text),
  done: async (file) => {
    await chosen.upload(file, { spoken: true });
    form.requestSubmit();
  },
});
if (start.hears) recorder.offer();
list.addEventListener("click", () => {
  if (!menu.isOpen && !words.value) words.value = "/";
  words.focus();
  if (menu.isOpen) menu.show([]);
  else menu.update();
});
stop.addEventListener("click", () => sayWords("/stop"));
document.querySelector(".leave")?.addEventListener("submit", () => {
  for (const name of [STORE, DRAFT]) sessionStorage.removeItem(name);
});
newest.addEventListener("click", () => {
  scrollDown();
  conversation.focus();
});
earlier.addEventListener("click", () => readHistory(messages.oldest));

tellLine(false, say("connecting"));
recall();
fitInput();
connect();
words.focus();
