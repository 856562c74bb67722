// Runs the console page's own script in a document of few lines: steps come in as JSON, and what
// the page shows and has written after each one goes out.

class Node {
  constructor(name = "") {
    Object.assign(this, { name, children: [], dataset: {}, style: {}, listeners: {}, value: "" });
    Object.assign(this, { classes: new Set(), hidden: false, disabled: false, parent: null });
    this.classList = {
      add: (word) => this.classes.add(word),
      remove: (word) => this.classes.delete(word),
      contains: (word) => this.classes.has(word),
      toggle: (word, isOn) => (isOn ? this.classes.add(word) : this.classes.delete(word)),
    };
  }
  set className(words) { this.classes = new Set(words.split(" ")); }
  get textContent() {
    return this.children.map((child) => child.textContent ?? child).join("");
  }
  set textContent(text) { this.children = [text]; }
  append(...parts) {
    const flat = parts.flatMap((part) => (part instanceof Node && !part.name ? part.children : part));
    for (const part of flat) if (part instanceof Node) part.parent = this;
    this.children.push(...flat);
  }
  appendChild(child) { this.append(child); return child; }
  replaceChildren(...parts) { this.children = []; this.append(...parts); }
  remove() { this.parent.children = this.parent.children.filter((child) => child !== this); }
  before(node) { this.insert(node, 0); }
  after(node) { this.insert(node, 1); }
  insert(node, step) {
    this.parent.children.splice(this.parent.children.indexOf(this) + step, 0, node);
    node.parent = this.parent;
  }
  setAttribute() {}
  focus() { focused = this; }
  addEventListener(kind, listener) { this.listeners[kind] = listener; }
  // As in a browser, nothing that is disabled hears a click.
  fire(kind) { if (!this.disabled) this.listeners[kind]({ preventDefault() {} }); }
  find(name) {
    const inner = this.children.filter((child) => child instanceof Node);
    return [...inner.filter((child) => child.name === name), ...inner.flatMap((child) => child.find(name))];
  }
}

class Socket {
  static OPEN = 1;
  readyState = 0;
  constructor() { socket = this; }
  send(line) { wrote.push(JSON.parse(line)); }
}

let socket, focused, parts, wrote, loads = 0, history = [], user = "local";
const kept = new Map();
globalThis.WebSocket = Socket;
globalThis.location = { protocol: "http:", host: "localhost" };
globalThis.requestAnimationFrame = (paint) => paint();
globalThis.sessionStorage = {
  getItem: (key) => kept.get(key) ?? null,
  setItem: (key, text) => kept.set(key, text),
};
globalThis.navigator ??= { language: "en" };
globalThis.ResizeObserver = class { observe() {} };
globalThis.fetch = async (path) => ({
  ok: true,
  json: async () =>
    path === "/start"
      ? { user, language: "en", texts: {}, commands: [], links: [], mostBytes: 1000 }
      : { entries: history, hasMore: false, since: 0, title: "" },
});
globalThis.document = {
  documentElement: new Node("html"),
  body: { dispatchEvent() {} },
  querySelector: () => null,
  querySelectorAll: () => [],
  addEventListener() {},
  createElement: (name) => new Node(name),
  createElementNS: (_, name) => new Node(name),
  createDocumentFragment: () => new Node(),
  getElementById: (id) => (parts[id] ??= Object.assign(new Node("div"), { id })),
};

const steps = {
  async load() {
    parts = {};
    await import(`${process.argv[2]}?${(loads += 1)}`);
  },
  login(name) { user = name; },
  stored(entries) { history = entries; },
  open() { socket.readyState = Socket.OPEN; socket.onopen(); },
  hear(news) { socket.onmessage({ data: JSON.stringify(news) }); },
  acknowledge() { steps.hear({ type: "ack", id: all.at(-1).id }); },
  say(text) { parts.words.value = text; parts.form.fire("submit"); },
  press(label) {
    const button = parts.conversation.find("button").find((one) => one.textContent === label);
    button.focus();
    button.fire("click");
  },
};

function look() {
  const messages = parts.conversation.find("article").map((article) => ({
    text: article.find("div")[0].textContent,
    who: article.classes.has("mine") ? "mine" : "theirs",
    marks: [...article.classes].filter((word) => !["mine", "theirs"].includes(word)),
    buttons: article.find("button").filter((one) => !one.classes.has("copy") && !one.classes.has("deed")).map((button) => ({
      label: button.textContent,
      marks: [...button.classes, ...(button.disabled ? ["disabled"] : [])],
    })),
  }));
  const tags = parts.conversation.find("img").length + parts.conversation.find("b").length;
  return { messages, tags, focus: focused?.id, sign: !parts.sign.hidden, stop: !parts.stop.hidden };
}

const seen = [];
const all = [];
let given = "";
for await (const block of process.stdin) given += block;
for (const [name, value] of JSON.parse(given)) {
  wrote = [];
  await steps[name](value);
  await new Promise(setImmediate); // what the page has asked for arrives
  all.push(...wrote);
  seen.push({ ...look(), wrote });
}
process.stdout.write(JSON.stringify(seen), () => process.exit(0)); // a page's timers never end
