// The page's own sentences, in the person's language.

const texts = {};

export function setTexts(found, language) {
  Object.assign(texts, found);
  document.documentElement.lang = language;
  const setters = {
    text: (element, text) => (element.textContent = text),
    title: (element, text) => (element.title = text),
    label: (element, text) => element.setAttribute("aria-label", text),
    placeholder: (element, text) => (element.placeholder = text),
  };
  for (const [kind, set] of Object.entries(setters)) {
    for (const element of document.querySelectorAll(`[data-${kind}]`)) {
      set(element, texts[element.dataset[kind]]);
    }
  }
}

export function say(name, values = {}) {
  let text = texts[name] ?? "";
  for (const [key, value] of Object.entries(values)) text = text.replace(`{${key}}`, value);
  return text;
}
