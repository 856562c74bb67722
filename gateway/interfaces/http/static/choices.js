// The buttons below a message. Labels are only ever set as text.

export class Choices {
  // `press` is called with the key of a button that was pressed.
  constructor(press) {
    this.press = press;
    this.buttons = [];
    this.element = document.createElement("div");
    this.element.className = "choices";
    this.element.setAttribute("role", "group");
    this.element.setAttribute("aria-label", "Answers");
    this.show([]);
  }

  show(choices) {
    this.buttons = choices.map(({ key, label, style }) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = ["good", "danger"].includes(style) ? `choice ${style}` : "choice";
      button.textContent = label;
      button.addEventListener("click", () => this.choose(button, key));
      return button;
    });
    this.element.replaceChildren(...this.buttons);
    this.element.hidden = !choices.length;
  }

  choose(pressed, key) {
    if (pressed.disabled) return;
    for (const button of this.buttons) button.disabled = true;
    pressed.classList.add("pressed");
    this.press(key);
  }

  // Nothing was decided by the press, so the buttons go on working.
  release() {
    for (const button of this.buttons) {
      button.disabled = false;
      button.classList.remove("pressed");
    }
  }
}
