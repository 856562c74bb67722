// Markdown as elements. Text is only ever set as text, so nothing in it can become markup.

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)(?:\s+#+)?\s*$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])(\s+|$)/;
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;
const DEEPEST = 12;

let makeButton = null;

// In groups: an escaped sign, code, a link, strong, struck out, emphasis, a bare address. What
// stands between marks is bounded, so that a text full of marks can't hold up the page.
const MARKS = new RegExp(
  [
    String.raw`\\([!-/:-@[-\x60{-~])`,
    String.raw`(\x60+)([^\x60](?:[\s\S]{0,2000}?[^\x60])?)\2(?!\x60)`,
    String.raw`!?\[([^\]\n]{0,500})\]\(<?([^\s<>()]{1,1000}(?:\([^\s<>()]{0,200}\)[^\s<>()]{0,200})?)>?(?:\s+"[^"\n]{0,200}")?\)`,
    String.raw`(\*\*|__)(?=\S)([\s\S]{0,2000}?\S)\6`,
    String.raw`~~(?=\S)([\s\S]{0,2000}?\S)~~`,
    String.raw`([*_])(?=[^\s*_])([\s\S]{0,2000}?[^\s*_])\9(?!\w)`,
    String.raw`(https?:\/\/[^\s<>]{1,1000})`,
  ].join("|"),
  "g",
);

// `makeCopyButton` makes a button that copies what the function given to it returns.
export function render(source, makeCopyButton) {
  const fragment = document.createDocumentFragment();
  makeButton = makeCopyButton;
  addBlocks(fragment, source.replace(/\r\n?/g, "\n").replace(/\t/g, "    ").split("\n"), 0);
  return fragment;
}

function addBlocks(parent, lines, depth) {
  for (let at = 0; at < lines.length; ) {
    const line = lines[at];
    if (!line.trim()) {
      at += 1;
    } else if (FENCE.test(line)) {
      at = addCode(parent, lines, at);
    } else if (HEADING.test(line)) {
      const [, signs, text] = line.match(HEADING);
      addInline(add(parent, `h${Math.min(signs.length + 2, 6)}`), text);
      at += 1;
    } else if (RULE.test(line)) {
      add(parent, "hr");
      at += 1;
    } else if (QUOTE.test(line) && depth < DEEPEST) {
      const end = findEnd(lines, at, (next) => QUOTE.test(next));
      const inner = lines.slice(at, end).map((next) => next.replace(QUOTE, ""));
      addBlocks(add(parent, "blockquote"), inner, depth + 1);
      at = end;
    } else if (ITEM.test(line) && depth < DEEPEST) {
      at = addList(parent, lines, at, depth);
    } else if (line.includes("|") && TABLE_RULE.test(lines[at + 1] ?? "") && lines[at + 1].includes("-")) {
      at = addTable(parent, lines, at);
    } else {
      const end = Math.max(at + 1, findEnd(lines, at + 1, (next) => !startsBlock(next)));
      addInline(add(parent, "p"), lines.slice(at, end).join("\n"));
      at = end;
    }
  }
}

function startsBlock(line) {
  return !line.trim() || [FENCE, HEADING, RULE, QUOTE, ITEM].some((kind) => kind.test(line));
}

function findEnd(lines, from, belongs) {
  let end = from;
  while (end < lines.length && belongs(lines[end])) end += 1;
  return end;
}

function addCode(parent, lines, at) {
  const [, fence, language] = lines[at].match(FENCE);
  const isClosing = (line) => line.trim().startsWith(fence) && !line.trim().replaceAll(fence[0], "");
  const end = findEnd(lines, at + 1, (line) => !isClosing(line));
  const block = add(parent, "div");
  block.className = "block";
  const code = add(add(block, "pre"), "code");
  code.textContent = lines.slice(at + 1, end).join("\n");
  if (language.trim()) code.dataset.language = language.trim();
  if (makeButton) block.appendChild(makeButton(() => code.textContent));
  return end + 1;
}

function addList(parent, lines, at, depth) {
  const [, indent, mark] = lines[at].match(ITEM);
  const isOrdered = /\d/.test(mark);
  const list = add(parent, isOrdered ? "ol" : "ul");
  if (isOrdered) list.start = parseInt(mark, 10);
  const numbers = [];
  while (at < lines.length) {
    const item = lines[at].match(ITEM);
    if (!item || item[1].length > indent.length + 1 || item[1].length < indent.length) break;
    if (/\d/.test(item[2]) !== isOrdered) break;
    const inside = item[0].length;
    let end = at + 1;
    // What is indented belongs to the item, also after an empty line, and so does a lazy line.
    while (end < lines.length) {
      const next = lines[end];
      const isIndented = next.search(/\S/) > indent.length + 1;
      const isEmptyInside = !next.trim() && (lines[end + 1] ?? "").search(/\S/) > indent.length + 1;
      if (!isIndented && !isEmptyInside && startsBlock(next)) break;
      end += 1;
    }
    const inner = [lines[at].slice(inside)];
    for (const next of lines.slice(at + 1, end)) {
      inner.push(next.slice(Math.min(inside, Math.max(next.search(/\S/), 0))));
    }
    const added = add(list, "li");
    if (isOrdered) numbers.push(parseInt(item[2], 10));
    addItem(added, inner, depth);
    at = end;
    const isGap = at < lines.length && !lines[at].trim() && ITEM.test(lines[at + 1] ?? "");
    if (isGap) at += 1;
  }
  // The numbers stay as they are written; whoever writes "1." everywhere lets the page count.
  if (new Set(numbers).size > 1) numbers.forEach((number, which) => (list.children[which].value = number));
  return at;
}

function addItem(item, lines, depth) {
  const end = findEnd(lines, 0, (line) => !startsBlock(line));
  addInline(item, lines.slice(0, end).join("\n"));
  addBlocks(item, lines.slice(end), depth + 1);
}

function addTable(parent, lines, at) {
  const end = findEnd(lines, at + 2, (line) => line.trim() && line.includes("|"));
  const scroll = add(parent, "div");
  const names = splitRow(lines[at]);
  scroll.className = names.length > 3 ? "wide many" : "wide";
  const table = add(scroll, "table");
  const fill = (group, line, kind) => {
    const row = add(group, "tr");
    splitRow(line).forEach((words, number) => {
      const cell = add(row, kind);
      if (kind === "td") cell.dataset.name = (names[number] ?? "").replace(/[*_`]/g, "");
      addInline(cell, words);
    });
  };
  fill(add(table, "thead"), lines[at], "th");
  const body = add(table, "tbody");
  for (const line of lines.slice(at + 2, end)) fill(body, line, "td");
  return end;
}

function splitRow(line) {
  const cells = line.trim().replace(/^\|/, "").replace(/(?<!\\)\|$/, "").split(/(?<!\\)\|/);
  return cells.map((cell) => cell.trim().replace(/\\\|/g, "|"));
}

function addInline(parent, text, depth = 0) {
  let from = 0;
  const addText = (words) => {
    const lines = words.split("\n");
    lines.forEach((line, number) => {
      if (number) add(parent, "br");
      if (line) parent.append(line);
    });
  };
  if (depth > DEEPEST) return addText(text);
  const marks = new RegExp(MARKS);
  for (let found; (found = marks.exec(text)); ) {
    const [whole, escaped, , code, label, target, strong, bold, struck, em, leaning, address] = found;
    const isInWord = /\w/.test(text[found.index - 1] ?? "") && (strong ?? em ?? "").startsWith("_");
    if (isInWord) {
      marks.lastIndex = found.index + 1;
      continue;
    }
    addText(text.slice(from, found.index));
    from = found.index + whole.length;
    if (escaped !== undefined) parent.append(escaped);
    else if (code !== undefined) add(parent, "code").textContent = code.replace(/\n/g, " ");
    else if (target !== undefined) addLink(parent, target, label || target, depth);
    else if (bold !== undefined) addInline(add(parent, "strong"), bold, depth + 1);
    else if (struck !== undefined) addInline(add(parent, "del"), struck, depth + 1);
    else if (leaning !== undefined) addInline(add(parent, "em"), leaning, depth + 1);
    else {
      const bare = trimAddress(address);
      addLink(parent, bare, null, depth);
      from -= address.length - bare.length;
      marks.lastIndex = from;
    }
  }
  addText(text.slice(from));
}

// What ends a sentence is not part of an address; a bracket is, if it was opened in it.
function trimAddress(address) {
  const bare = address.replace(/[.,;:!?'"\]*_]+$/, "");
  const isOpened = bare.split("(").length >= bare.split(")").length;
  return bare.endsWith(")") && !isOpened ? trimAddress(bare.slice(0, -1)) : bare;
}

function addLink(parent, target, label, depth) {
  // Only what opens a page or a letter: a link must not be able to run anything.
  if (!/^(?:https?:\/\/|mailto:)/i.test(target)) {
    parent.append(label === null ? target : `${label} (${target})`);
    return;
  }
  const link = add(parent, "a");
  link.href = target;
  link.target = "_blank";
  link.rel = "noopener noreferrer";
  if (label === null || label === target) link.textContent = target;
  else addInline(link, label, depth + 1);
}

function add(parent, name) {
  return parent.appendChild(document.createElement(name));
}
