// The chat's own sentences, in the person's language.

const texts = {};

export function setTexts(found) {
  Object.assign(texts, found);
}

export function say(name, values = {}) {
  let text = texts[name] ?? "";
  for (const [key, value] of Object.entries(values)) text = text.replace(`{${key}}`, value);
  return text;
}
