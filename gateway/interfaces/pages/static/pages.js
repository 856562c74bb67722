// Tells htmx that something happened. The server continues behind the last event after a break.
const RETRY = 5000; // milliseconds
let waiting = 0;
function tell() {
  clearTimeout(waiting);
  waiting = setTimeout(() => document.body.dispatchEvent(new Event("news")), 200);
}
function follow(isAgain) {
  const events = new EventSource("/pages/events");
  for (const name of ["turn.started", "turn.ended", "memory.changed", "question.asked"]) {
    events.addEventListener(name, tell);
  }
  if (isAgain) events.addEventListener("open", tell, { once: true });
  events.addEventListener("error", () => {
    // The browser gives up after an error page, such as a proxy's while Talaria restarts.
    if (events.readyState === EventSource.CLOSED) setTimeout(follow, RETRY, true);
  });
}
follow(false);
// An update keeps open what the reader has opened. A complete answer is in the list then.
let opened = [];
let complete = false;
document.addEventListener("htmx:beforeSwap", () => {
  opened = [...document.querySelectorAll("details[open][id]")].map((one) => one.id);
});
document.addEventListener("htmx:afterSwap", () => {
  for (const id of opened) document.getElementById(id)?.setAttribute("open", "");
  if (complete) document.getElementById("grown").textContent = "";
  complete = false;
});
// Shows an answer as it grows. Without this script, the page shows it once it is complete.
document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.id !== "write") return;
  event.preventDefault();
  const grown = document.getElementById("grown");
  const button = form.querySelector("button");
  const body = new URLSearchParams(new FormData(form));
  button.disabled = true;
  complete = false;
  grown.textContent = "…";
  let arrived = false;
  try {
    const answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "text/event-stream" } });
    arrived = answer.status < 500; // a proxy's error page tells nothing
    if (!answer.headers.get("content-type").startsWith("text/event-stream")) {
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      grown.textContent = page.querySelector("main p").textContent;
      return;
    }
    document.getElementById("text").value = "";
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    let shown = "";
    let failed = false;
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      const events = (rest + piece.value).split("\n\n");
      rest = events.pop();
      for (const one of events) {
        const data = one.split("\n").find((line) => line.startsWith("data: "));
        const fields = data ? JSON.parse(data.slice(6)) : {};
        shown += fields.text ?? "";
        if (fields.error) [shown, failed] = [fields.error.message, true];
        if (shown) grown.textContent = shown;
      }
    }
    if (form.elements.conversation && !failed) {
      complete = true;
      document.body.dispatchEvent(new Event("news"));
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // fetch throws it for a lost connection
    grown.textContent = form.dataset.lost;
    complete = arrived && Boolean(form.elements.conversation);
  } finally {
    button.disabled = false;
    // With the same key, a message that may have arrived is not sent twice.
    if (arrived) form.elements.key.value = crypto.getRandomValues(new Uint32Array(4)).join("-");
  }
});
