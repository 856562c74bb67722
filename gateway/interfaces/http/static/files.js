// Files: those that the person chose for the next message, and those of messages.

import { say } from "./texts.js";

const SHOWN = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const MOST = 10;

// The files of the next message. They are uploaded at once, so that sending takes no time.
export class Chosen {
  constructor(element, { mostBytes, changed, complain }) {
    Object.assign(this, { element, mostBytes, changed, complain, files: [] });
  }

  get isEmpty() {
    return !this.files.length;
  }

  get isReady() {
    return this.files.every((file) => file.key);
  }

  async add(picked) {
    await Promise.all([...picked].map((file) => this.upload(file)));
  }

  // `spoken` marks what the person has just said into the microphone.
  async upload(picked, { spoken = false } = {}) {
    const name = picked.name || say("file");
    if (this.files.length >= MOST) return this.complain(say("tooMany"));
    if (picked.size > this.mostBytes) {
      return this.complain(say("tooLarge", { name, limit: describeSize(this.mostBytes) }));
    }
    const file = { name, type: picked.type, key: "", ...(spoken ? { spoken } : {}) };
    this.files.push(file);
    this.show();
    try {
      const answer = await fetch("/files", { method: "POST", body: picked });
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      file.key = (await answer.json()).key;
      this.show();
    } catch {
      this.drop(file);
      this.complain(say("uploadFailed", { name }));
    }
  }

  take() {
    const taken = this.files;
    this.files = [];
    this.show();
    return taken;
  }

  drop(file) {
    this.files = this.files.filter((other) => other !== file);
    this.show();
  }

  show() {
    const items = this.files.map((file) => {
      const item = document.createElement("li");
      item.textContent = file.key ? file.name : `${file.name} – ${say("uploading")}`;
      const remove = document.createElement("button");
      remove.type = "button";
      remove.textContent = "×";
      remove.setAttribute("aria-label", say("remove", { name: file.name }));
      remove.addEventListener("click", () => this.drop(file));
      item.append(remove);
      return item;
    });
    this.element.replaceChildren(...items);
    this.element.hidden = !items.length;
    this.changed();
  }
}

// A file of a message: a picture as it is, and any other as a link that saves it. The bytes are in
// base64 when they come with the message, and else at the gateway.
export function renderFile({ key, name, type, data }) {
  const address = data === undefined ? `/files/${key}` : makeAddress(data, type);
  const link = document.createElement("a");
  link.className = "file";
  link.href = address;
  link.download = name;
  if (SHOWN.includes(type)) {
    const picture = document.createElement("img");
    picture.src = address;
    picture.alt = name || say("file");
    link.append(picture);
  } else {
    link.textContent = `📎 ${name || say("file")}`;
  }
  return link;
}

function makeAddress(data, type) {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  // Only a picture keeps its type: anything else could act as a page of this address.
  return URL.createObjectURL(new Blob([bytes], { type: SHOWN.includes(type) ? type : "application/octet-stream" }));
}

function describeSize(bytes) {
  return `${(bytes / 1e6).toLocaleString(document.documentElement.lang, { maximumFractionDigits: 1 })} MB`;
}
