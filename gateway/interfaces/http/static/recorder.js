// A voice message: the first press begins it, the second sends it, and Escape throws it away.

import { say } from "./texts.js";

const TICK = 1000;
const LONGEST = 10 * 60; // seconds; a forgotten microphone must not go on

export class Recorder {
  constructor(button, { tell, complain, done }) {
    Object.assign(this, { button, tell, complain, done, machine: null, timer: 0, seconds: 0 });
    button.addEventListener("click", () => (this.machine ? this.machine.stop() : this.begin()));
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.machine) this.end(null);
    });
  }

  // Browsers give a microphone to secure pages and to this computer only.
  offer() {
    this.button.hidden = !(navigator.mediaDevices?.getUserMedia && window.MediaRecorder);
  }

  async begin() {
    let stream;
    try {
      stream = await navigator.mediaDevices.getUserMedia({ audio: true });
    } catch {
      this.complain(say("noMicrophone"));
      return;
    }
    const pieces = [];
    const machine = new MediaRecorder(stream);
    machine.ondataavailable = ({ data }) => pieces.push(data);
    machine.onstop = () => this.end(new Blob(pieces, { type: machine.mimeType.split(";")[0] }));
    machine.start();
    this.machine = machine;
    this.seconds = 0;
    this.button.setAttribute("aria-pressed", "true");
    this.timer = setInterval(() => this.tick(), TICK);
    this.show();
  }

  tick() {
    this.seconds += 1;
    if (this.seconds >= LONGEST) this.machine.stop();
    else this.show();
  }

  show() {
    const rest = String(this.seconds % 60).padStart(2, "0");
    this.tell(say("recording", { name: `${Math.floor(this.seconds / 60)}:${rest}` }));
  }

  end(sound) {
    const { machine } = this;
    this.machine = null;
    clearInterval(this.timer);
    this.button.setAttribute("aria-pressed", "false");
    machine.onstop = null;
    if (machine.state !== "inactive") machine.stop();
    for (const track of machine.stream.getTracks()) track.stop();
    this.tell("");
    if (sound?.size) this.done(new File([sound], `voice.${sound.type.split("/")[1]}`, { type: sound.type }));
  }
}
