// Tells htmx that something happened since the server looked for this page, or since the last event.
let since = document.body.dataset.since;
const RETRY = 5000; // milliseconds
let waiting = 0;
function tell() {
  clearTimeout(waiting);
  waiting = setTimeout(() => document.body.dispatchEvent(new Event("news")), 200);
}
function follow() {
  const events = new EventSource(`/pages/events?since=${since}`);
  for (const name of ["turn.started", "turn.ended", "memory.changed", "question.asked"]) {
    events.addEventListener(name, (event) => {
      since = event.lastEventId || since;
      tell();
      document.dispatchEvent(new CustomEvent("told", { detail: { name, id: event.lastEventId } }));
    });
  }
  events.addEventListener("error", () => {
    // The browser gives up after an error page, such as a proxy's while Talaria restarts.
    if (events.readyState === EventSource.CLOSED) setTimeout(follow, RETRY);
  });
}
follow();
// The drawer of a phone goes with Escape and with a press on what it leads to.
const opener = document.getElementById("open-side");
function closeDrawer() {
  if (location.hash !== "#side") return false;
  location.replace("#content");
  history.replaceState(null, "", location.pathname + location.search);
  opener?.focus();
  return true;
}
opener?.addEventListener("click", () => requestAnimationFrame(() => document.getElementById("close-side").focus()));
for (const one of document.querySelectorAll("#close-side, .veil")) {
  one.addEventListener("click", (event) => {
    event.preventDefault();
    closeDrawer();
  });
}
// The palette: the page Search in a dialog. Arrows walk through what it found.
const palette = document.createElement("dialog");
palette.id = "palette";
async function openPalette() {
  closeDrawer();
  if (palette.open) return;
  const answer = await fetch("/search");
  if (!answer.ok) return location.assign("/search");
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const [form, found] = [page.querySelector("#page form[role=search]"), page.getElementById("found")];
  form.querySelector("input").id = "sought";
  form.querySelector("label").htmlFor = "sought";
  form.querySelector(".acts").remove();
  palette.setAttribute("aria-label", page.querySelector("#page h1").textContent);
  palette.replaceChildren(form, found);
  document.body.append(palette);
  htmx.process(palette);
  palette.showModal();
  form.querySelector("input").focus();
}
palette.addEventListener("click", (event) => event.target === palette && palette.close());
palette.addEventListener("close", () => palette.replaceChildren());
palette.addEventListener("submit", (event) => {
  event.preventDefault();
  palette.querySelector("#found a")?.click();
});
palette.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const stops = [palette.querySelector("input"), ...palette.querySelectorAll("#found a, #found summary")]
    .filter((one) => one.offsetParent);
  const at = stops.indexOf(document.activeElement);
  stops[(at + step + stops.length) % stops.length].focus();
});
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    openPalette();
  } else if (event.key === "Escape") closeDrawer();
});
for (const one of document.querySelectorAll("[data-find]")) {
  one.addEventListener("click", (event) => {
    event.preventDefault();
    openPalette();
  });
}
// What a form did is said once: the address forgets it, so that a reload and Back stay plain.
// A rejected form stays at its address, for a reload and Back to find it with its mistakes.
const here = new URL(location.href);
if (here.searchParams.has("done") && !("isRejected" in document.body.dataset)) {
  here.searchParams.delete("done");
  history.replaceState(null, "", here);
}
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
// Enter sends, as in the chat; Shift and Enter begin a line.
document.addEventListener("keydown", (event) => {
  if (event.target.id !== "text" || event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  event.target.form.requestSubmit();
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
