// The menu of commands: it opens when a message begins with a slash.

const SLASH = /^\/\S*$/;

export class Menu {
  // `chosen` is called after a command was put into the input.
  constructor(element, input, commands, chosen) {
    Object.assign(this, { element, input, commands, chosen, found: [], at: 0 });
    element.addEventListener("mousedown", (event) => event.preventDefault()); // keeps the focus
  }

  get isOpen() {
    return !this.element.hidden;
  }

  update() {
    const typed = this.input.value;
    const found = SLASH.test(typed) ? this.commands.filter(({ name }) => `/${name}`.startsWith(typed)) : [];
    // A command that is there in full needs no menu: Enter shall send it.
    this.show(found.length === 1 && `/${found[0].name}` === typed ? [] : found);
  }

  show(found) {
    this.found = found;
    this.at = 0;
    this.element.replaceChildren(...found.map((command, number) => this.render(command, number)));
    this.element.hidden = !found.length;
    this.mark();
  }

  render({ name, summary }, number) {
    const item = document.createElement("li");
    item.id = `command-${number}`;
    item.setAttribute("role", "option");
    const title = document.createElement("b");
    title.textContent = `/${name}`;
    const text = document.createElement("span");
    text.textContent = summary;
    item.append(title, text);
    item.addEventListener("click", () => this.choose(number));
    return item;
  }

  mark() {
    for (const [number, item] of [...this.element.children].entries()) {
      item.setAttribute("aria-selected", String(number === this.at));
      if (number === this.at) item.scrollIntoView({ block: "nearest" });
    }
    this.input.setAttribute("aria-activedescendant", this.isOpen ? `command-${this.at}` : "");
  }

  choose(number = this.at) {
    this.input.value = `/${this.found[number].name} `;
    this.show([]);
    this.chosen();
  }

  // True if the key was the menu's.
  handle(key) {
    if (!this.isOpen) return false;
    const count = this.found.length;
    if (key === "ArrowDown") this.at = (this.at + 1) % count;
    else if (key === "ArrowUp") this.at = (this.at + count - 1) % count;
    else if (key === "Enter" || key === "Tab") return this.choose(), true;
    else if (key === "Escape") return this.show([]), true;
    else return false;
    this.mark();
    return true;
  }
}
