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
addEventListener("hashchange", () => location.hash === "#side" && document.getElementById("close-side").focus());
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
  answered = "";
  document.body.append(palette);
  htmx.process(palette);
  palette.showModal();
  form.querySelector("input").focus();
}
palette.addEventListener("click", (event) => event.target === palette && palette.close());
palette.addEventListener("close", () => palette.replaceChildren());
let answered = ""; // what the shown results are for
palette.addEventListener("htmx:afterRequest", ({ detail: { xhr } }) => {
  answered = new URL(xhr.responseURL || location.href).searchParams.get("q") ?? "";
});
palette.addEventListener("submit", (event) => {
  // Enter came before the results: the page Search waits for them.
  if (palette.querySelector("input").value !== answered) return;
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
// An update keeps open what the reader has opened, and the focus; it waits for what they have typed
// to be sent. A complete answer is in the list then.
let opened = [];
let focused = "";
let complete = false;
const FOCUSED = "a, button, summary, [tabindex]";
function describe(one) {
  const address = one.getAttribute("href") ?? one.form?.getAttribute("action") ?? "";
  return [one.tagName, address, one.value, one.getAttribute("aria-label") ?? one.textContent.trim()].join(" ");
}
function isTyped(one) {
  if (one.closest("[hx-preserve]") || one.type === "hidden") return false;
  if (one.options) {
    const usual = [...one.options].find((option) => option.defaultSelected) ?? one.options[0];
    return one.options[one.selectedIndex] !== usual;
  }
  return one.value !== one.defaultValue || one.checked !== one.defaultChecked;
}
document.addEventListener("htmx:beforeSwap", (event) => {
  const { target } = event.detail;
  if (target.id === "page" && [...target.querySelectorAll("input, textarea, select")].some(isTyped)) {
    event.detail.shouldSwap = false;
    return;
  }
  opened = [...document.querySelectorAll("details[open] > summary")].map(describe);
  focused = target.contains(document.activeElement) ? describe(document.activeElement) : "";
});
document.addEventListener("htmx:afterSwap", () => {
  for (const one of document.querySelectorAll("details:not([open]) > summary")) {
    if (opened.includes(describe(one))) one.parentElement.open = true;
  }
  if (document.activeElement === document.body && focused) {
    [...document.querySelectorAll(FOCUSED)].find((one) => describe(one) === focused)?.focus({ preventScroll: true });
  }
  if (complete) document.getElementById("grown").textContent = "";
  complete = false;
});
// A form that leads back to its own page leaves the reader where they were; one with a mistake
// leads to it.
const PLACE = "place";
const content = document.getElementById("content");
document.addEventListener("submit", ({ target, submitter }) => {
  if (target.method !== "post" || target.id === "write" || !content.contains(target)) return;
  const [button, row] = submitter?.matches(":focus-visible") ? [describe(submitter), submitter.closest("li")?.id] : [];
  sessionStorage.setItem(PLACE, JSON.stringify({ path: location.pathname, top: content.scrollTop, button, row }));
});
const left = JSON.parse(sessionStorage.getItem(PLACE) ?? "{}");
sessionStorage.removeItem(PLACE);
if ("isRejected" in document.body.dataset) document.querySelector("[aria-invalid=true]")?.focus();
else if (left.path === location.pathname && !location.hash) {
  content.scrollTop = left.top;
  if (left.top) content.querySelector(".flash")?.classList.add("followed");
  const row = document.getElementById(left.row);
  const pressed = [...content.querySelectorAll("button")].find((one) => describe(one) === left.button) ?? row?.querySelector("button") ?? row;
  (pressed?.offsetParent ? pressed : pressed?.closest("details")?.querySelector("summary"))?.focus({ preventScroll: true });
}
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
