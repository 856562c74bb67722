// Lists the operations of the API, and sends requests that the reader has written.

const EXAMPLES = {
  "/v1/chat/completions": { model: "talaria", messages: [{ role: "user", content: "Hello!" }] },
  "/v1/responses": { model: "talaria", input: "Hello!" },
};

const make = (name, fields = {}, ...children) => {
  const node = Object.assign(document.createElement(name), fields);
  node.append(...children);
  return node;
};

const send = async (method, path, body, shown) => {
  const headers = { Authorization: `Bearer ${document.querySelector("#token").value}` };
  if (body) headers["Content-Type"] = "application/json";
  shown.textContent = "…";
  try {
    const answer = await fetch(path, { method, headers, body: body || undefined });
    shown.textContent = `${answer.status} ${answer.statusText}\n\n${await answer.text()}`;
  } catch (fault) {
    shown.textContent = `No answer: ${fault.message}`;
  }
};

const describe = (path, method, operation) => {
  const shown = make("pre", { tabIndex: 0 });
  shown.setAttribute("aria-live", "polite");
  const parts = [make("h2", { textContent: `${method.toUpperCase()} ${path}` })];
  parts.push(make("p", { textContent: operation.summary }));
  const inputs = (operation.parameters || [])
    .filter((one) => one.in !== "header")
    .map((one) => make("input", { name: one.name, placeholder: one.name, ariaLabel: one.name }));
  const body = make("textarea", { spellcheck: false, ariaLabel: "Body of the request" });
  body.value = JSON.stringify(EXAMPLES[path] || {}, null, 2);
  parts.push(...inputs, ...(operation.requestBody ? [body] : []));
  const button = make("button", { type: "button", textContent: "Send" });
  button.addEventListener("click", () => {
    const query = new URLSearchParams();
    let target = path;
    for (const input of inputs) {
      const place = `{${input.name}}`;
      if (target.includes(place)) target = target.replace(place, encodeURIComponent(input.value));
      else if (input.value) query.set(input.name, input.value);
    }
    const asked = query.size ? `${target}?${query}` : target;
    send(method.toUpperCase(), asked, operation.requestBody && body.value, shown);
  });
  return make("section", {}, ...parts, make("p", {}, button), shown);
};

try {
  const spec = await (await fetch("/api/openapi.json")).json();
  for (const [path, methods] of Object.entries(spec.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      document.querySelector("#operations").append(describe(path, method, operation));
    }
  }
} catch (fault) {
  document.querySelector("#fault").textContent = `The description can't be read: ${fault.message}`;
}
