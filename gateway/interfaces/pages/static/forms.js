// Copies what a button names.
const DONE = 2000; // milliseconds
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const label = (button.dataset.label ??= button.textContent);
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
  } catch {
    // A page without HTTPS, reached by a plain address, has no clipboard.
    const area = document.createElement("textarea");
    area.value = button.dataset.copy;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  button.textContent = button.dataset.done;
  setTimeout(() => (button.textContent = label), DONE);
});
// An example fills a field, as if it was typed.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-fill]");
  if (!button) return;
  const field = document.getElementById(button.dataset.fill);
  field.value = button.textContent.trim();
  field.dispatchEvent(new Event("change", { bubbles: true }));
  field.focus();
});
// Files go one by one, each as the body of a request; the list follows when all have arrived.
const upload = document.getElementById("upload");
if (upload) {
  upload.hidden = false;
  const tell = (text) => (document.getElementById("uploaded").textContent = text);
  const take = async (files) => {
    const faults = [];
    for (const file of files) {
      if (file.size > Number(upload.dataset.most)) {
        faults.push(`${file.name}: ${upload.dataset.large}`);
        continue;
      }
      tell(`${file.name} …`);
      const query = new URLSearchParams({ in: upload.dataset.in, name: file.name });
      const answer = await fetch(`/workspace/add?${query}`, { method: "POST", body: file }).catch(() => null);
      if (answer?.status !== 201) faults.push(`${file.name}: ${(await answer?.json().catch(() => null))?.fault ?? "?"}`);
    }
    if (faults.length) tell(faults.join("; "));
    else location.reload();
  };
  document.getElementById("files").addEventListener("change", (event) => take([...event.target.files]));
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    take([...event.dataTransfer.files]);
  });
}
// Notifications of this browser, if the person has switched them on here. They hold no words of
// the conversation: others may see the screen.
const NOTIFY = "notify";
const mayNotify = () => localStorage.getItem(NOTIFY) === "on" && Notification.permission === "granted";
if ("Notification" in window) {
  document.addEventListener("told", ({ detail: { name, id } }) => {
    const words = { "turn.ended": "answer", "question.asked": "question" }[name];
    if (!words || !document.hidden || !mayNotify()) return;
    const note = new Notification("Talaria", { body: document.body.dataset[words], icon: "/icon-192.png", tag: id });
    note.addEventListener("click", () => {
      window.focus();
      location.assign(words === "question" ? "/today" : "/");
    });
  });
  const notify = document.getElementById("notify");
  if (notify) {
    document.getElementById("device").hidden = false;
    notify.checked = mayNotify();
    notify.addEventListener("change", async () => {
      const isAllowed = notify.checked && (await Notification.requestPermission()) === "granted";
      document.getElementById("notify-refused").hidden = isAllowed || !notify.checked;
      notify.checked = isAllowed;
      localStorage.setItem(NOTIFY, isAllowed ? "on" : "off");
    });
  }
}
