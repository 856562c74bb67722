"""Find the words of a command that are plain data, so that an approval need not hold them.

Everything else belongs to the approval word by word: an unknown program, an unknown option, the
value of an option, a verb, a host, a query language. A word is left open only if a usage below
says what stands in its position, and if it looks like nothing but that.
"""

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args
from urllib.parse import urlsplit

from agent_core.tools.policy.paths import is_inside, resolve

_Slot = Literal["same", "number", "name", "words", "file", "url"]
"""The kind of a word. `same` is never left open, and a `file` only in what stays on this machine.

The other kinds are a number, a name without dots or slashes, words to search for, and an address.
"""
_MOST_WORDS = 3
"""Words of a program with its subcommands."""
_NUMBER = re.compile(r"\d{1,9}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_WORDS = re.compile(r"\w[\w .,']{0,199}")
_PART = re.compile(r"[^\W_][\w .-]{0,99}")
"""A part of a path that is neither hidden, nor a parent, nor like an option."""
_FLAGS = re.compile(r"-[A-Za-z0-9]{1,12}")
_DOCUMENTS = frozenset(
    (
        *(".txt", ".md", ".rst", ".log", ".csv", ".tsv", ".pdf", ".odt", ".ods", ".docx", ".xlsx"),
        *(".png", ".jpg", ".jpeg", ".gif", ".webp", ".mp3", ".ogg", ".wav", ".mp4", ".webm"),
    )
)
"""Endings of files that no program obeys, and that are not meant to hold keys."""
_SEARCHES = frozenset(("q", "query", "search", "keyword", "keywords"))
"""Parameters of an address that hold words to search for."""
ANY_NUMBER, ANY_NAME, ANY_WORDS = "<any number>", "<any name>", "<any words>"
"""Marks of words that are left open. A word of a command with a shape never contains `<`."""

# program and subcommands [options]: the kinds of the other words; the last kind with * repeats.
# Options end in = if a value follows, and in =# if that value is a number that may differ.
_USAGES = """
cat -n -b -A -E -s -v: file*
tac: file*
nl: file*
head -q -v -n=# -c=#: file*
tail -q -v -n=# -c=#: file*
wc -l -w -c -m: file*
stat: file*
file -b -i: file*
md5sum: file*
sha1sum: file*
sha256sum: file*
sha512sum: file*
b2sum: file*
cksum: file*
ls -l -a -h -t -r -1 -S: file*
du -h -s: file*
od -c -x: file*
strings: file*
rev: file*
fold -s -w=#: file*
fmt -w=#: file*
column -t: file*
cut -s -d= -f=: file*
cmp -s: file file
diff -u -q -b -w -i: file file
comm -1 -2 -3: file file
sort -n -r -u -f: file*
uniq -c -d -u: file
zcat: file*
grep -i -n -v -c -l -w -x -r -E -F -H -h -A=# -B=# -C=# -m=#: words file*
egrep -i -n -v -c -l -w -x -r -H -h -A=# -B=# -C=# -m=#: words file*
fgrep -i -n -v -c -l -w -x -r -H -h -A=# -B=# -C=# -m=#: words file*
rg -i -n -v -c -l -w -x -F -S -A=# -B=# -C=# -m=#: words file*
jq -r -c -S -e: same file*
git log --oneline --stat -n=#: same*
apt search --names-only: words*
apt-cache search --names-only: words*
apt show: name
apt-cache show: name
dnf search: words
apk search: words
brew search: words
brew info: name
snap find: words
npm search --json: words*
npm view --json: name
pip show: name
gem search: words
cargo search --limit=#: words
cargo info: name
docker search --limit=#: words
docker logs --tail=# -t: name
docker inspect: name
podman search --limit=#: words
podman logs --tail=# -t: name
helm search repo: words
helm search hub: words
helm status: name
gh search repos --json= --limit=#: words
gh search issues --json= --limit=# --repo= --state=: words
gh search prs --json= --limit=# --repo= --state=: words
gh search code --json= --limit=# --repo=: words
gh issue view --json= --comments --repo= -R=: number
gh pr view --json= --comments --repo= -R=: number
gh pr diff --repo= -R=: number
gh pr checks --repo= -R=: number
gh run view --json= --log --repo= -R=: number
glab issue view --comments -R=: number
glab mr view --comments -R=: number
kubectl logs --tail=# -n= --namespace=: name
kubectl describe pod -n= --namespace=: name
kubectl get pod -n= --namespace= -o=: name
systemctl status --no-pager: name
journalctl --no-pager -n=# -u=: same
curl -s -S -L -f -i -I -v --silent --show-error --location --fail --compressed -X= -H= -m=#: url
wget -q --quiet --spider -T=# --timeout=# --method= --header= -O=: url
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Usage:
    """How a program is called. `options` maps each option to the kind of its value, None for none.

    `slots` are the kinds of the other words; with `repeats`, the last kind holds for any more.
    """

    options: Mapping[str, _Slot | None]
    slots: tuple[_Slot, ...]
    repeats: bool


def leave_open(words: Sequence[str], *, is_outward: bool) -> tuple[str, ...]:
    """Return the words of a command, with marks instead of those that are plain data.

    `is_outward` means that data leaves this machine: then a file belongs to the command.
    """
    for count in range(min(_MOST_WORDS, len(words)), 0, -1):
        if usage := _TABLE.get(tuple(words[:count])):
            found = _read(usage, words[count:], is_outward=is_outward)
            return tuple(words) if found is None else (*words[:count], *found)
    return tuple(words)


def _read(usage: _Usage, words: Sequence[str], *, is_outward: bool) -> list[str] | None:
    """Return the words behind a program; None if one of them doesn't fit the usage."""
    found = list[str]()
    position = count = 0
    while position < len(words):
        word = words[position]
        position += 1
        if not word.startswith("-"):
            if count >= len(usage.slots) and not usage.repeats:
                return None
            slot = usage.slots[min(count, len(usage.slots) - 1)]
            found.append(_mark(slot, word, is_outward=is_outward))
            count += 1
        elif word in usage.options:
            found.append(word)
            value = usage.options[word]
            if value is not None and position < len(words):
                if word in ("-X", "--method") and words[position] not in ("GET", "HEAD"):
                    return None
                found.append(_mark(value, words[position], is_outward=is_outward))
                position += 1
        elif (joined := _read_joined(usage, word)) is not None:
            found.append(joined)
        else:
            return None
    return found


def _read_joined(usage: _Usage, word: str) -> str | None:
    """Return an option with its value, or several letters, in one word; None for an unknown one."""
    name, equals, value = word.partition("=")
    if equals:
        slot = usage.options.get(name) if name.startswith("--") else None
        fits = slot is not None and name != "--method"
        return f"{name}={_mark(slot, value, is_outward=True)}" if slot and fits else None
    letters = [f"-{letter}" for letter in word[1:]]
    is_flags = _FLAGS.fullmatch(word) and all(
        one in usage.options and usage.options[one] is None for one in letters
    )
    return word if is_flags else None


def _mark(slot: _Slot, word: str, *, is_outward: bool) -> str:
    """Return the mark of a word that is plain data of its kind; the word itself otherwise."""
    if slot == "number":
        return ANY_NUMBER if _NUMBER.fullmatch(word) else word
    if slot == "name":
        return ANY_NAME if _NAME.fullmatch(word) else word
    if slot == "words":
        return ANY_WORDS if _WORDS.fullmatch(word) else word
    if slot == "file":
        return word if is_outward else mark_file(word)
    return _mark_url(word) if slot == "url" else word


def mark_file(path: str) -> str:
    """Return the mark of a plain document of the workspace, with its folder; else the path."""
    folder, name = posixpath.split(path)
    parts = [*folder.strip("/").split("/"), name] if folder else [name]
    ending = posixpath.splitext(name)[1]
    is_plain = all(_PART.fullmatch(part) for part in parts) and ending in _DOCUMENTS
    if not is_plain or not is_inside(resolve(path, "/workspace")):
        return path
    return f"<any {ending} file in {folder or 'the folder where it runs'}>"


def _mark_url(url: str) -> str:
    """Return an address with marks for numbers in its path, and for words in a search."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    if parts.scheme not in ("http", "https") or "@" in parts.netloc or parts.fragment:
        return url
    path = "/".join(_mark("number", one, is_outward=True) for one in parts.path.split("/"))
    query = "&".join(_mark_parameter(one) for one in parts.query.split("&"))
    asked = f"?{query}" if parts.query else ""
    return f"{parts.scheme}://{parts.netloc}{path}{asked}"


def _mark_parameter(parameter: str) -> str:
    name, equals, value = parameter.partition("=")
    if not equals:
        return parameter
    text = value.replace("+", " ").replace("%20", " ")
    slot: _Slot = "words" if name in _SEARCHES else "same"
    return f"{name}={_mark(slot, text, is_outward=True) if slot == 'words' else value}"


def _parse(line: str) -> tuple[tuple[str, ...], _Usage]:
    before, _, after = line.partition(": ")
    words, options, slots = list[str](), dict[str, _Slot | None](), list[_Slot]()
    for word in before.split():
        name, equals, kind = word.partition("=")
        if not word.startswith("-"):
            words.append(word)
        elif equals:
            options[name] = "number" if kind else "same"
        else:
            options[name] = None
    for word in after.split():
        slots += [one for one in get_args(_Slot) if one == word.rstrip("*")]
    usage = _Usage(options=options, slots=tuple(slots), repeats=after.endswith("*"))
    return tuple(words), usage


_TABLE = dict(_parse(line) for line in _USAGES.strip().splitlines())
