// Tells htmx that something happened. The server continues behind the last event after a break.
const events = new EventSource("/pages/events");
let waiting = 0;
for (const name of ["turn.started", "turn.ended", "memory.changed", "question.asked"]) {
  events.addEventListener(name, () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => document.body.dispatchEvent(new Event("news")), 200);
  });
}
