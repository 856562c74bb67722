// Shows the answers of an old session as the chat shows them.

import { render } from "./markdown.js";

function draw() {
  for (const text of document.querySelectorAll("[data-markdown]")) {
    const body = document.createElement("div");
    body.className = "body";
    body.id = text.id;
    body.append(render(text.textContent, makeNothing));
    text.replaceWith(body);
  }
}

// Code is copied by hand here.
function makeNothing() {
  return document.createTextNode("");
}

draw();
document.addEventListener("htmx:afterSwap", draw);
