"""Find the words of a command that are plain data, so that an approval need not hold them.

Everything else belongs to the approval word by word: an unknown program, an unknown option, the
value of an option, a verb, a host, a file, a query language, the name of something that holds data
of its own. A word is left open only if a usage below says what stands in its position, and if it
looks like nothing but that.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args
from urllib.parse import urlsplit

_Slot = Literal["same", "number", "name", "words", "url"]
"""The kind of a word. `same` is never left open; a number also is in what leaves this machine.

The other kinds are a name without dots or slashes, words to search for, and an address.
"""
_MOST_WORDS = 3
"""Words of a program with its subcommands."""
_NUMBER = re.compile(r"[0-9]{1,9}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_WORDS = re.compile(r"\w[\w .,']{0,199}")
_FLAGS = re.compile(r"-[A-Za-z0-9]{1,12}")
ANY_NUMBER, ANY_NAME, ANY_WORDS = "<any number>", "<any name>", "<any words>"
"""Marks of words that are left open. A word of a command with a shape never contains `<`."""

# program and subcommands [options]: the kinds of the other words; the last kind with * repeats.
# Options end in = if a value follows, and in =# if that value is a number that may differ.
# None of these programs runs anything, or changes anything, with the options that stand here.
_USAGES = """
head -q -v -n=# -c=#: same*
tail -q -v -n=# -c=#: same*
fold -s -w=#: same*
fmt -w=#: same*
grep -i -n -v -c -l -w -x -r -E -F -H -h -A=# -B=# -C=# -m=#: words same*
egrep -i -n -v -c -l -w -x -r -H -h -A=# -B=# -C=# -m=#: words same*
fgrep -i -n -v -c -l -w -x -r -H -h -A=# -B=# -C=# -m=#: words same*
rg -i -n -v -c -l -w -x -F -S -A=# -B=# -C=# -m=#: words same*
git log --oneline --stat -n=#: same*
git fetch --prune --tags --quiet: same*
git ls-remote --heads --tags: same*
apt list --installed --upgradable: same*
apt search --names-only: words*
apt-cache search --names-only: words*
apt show: name
apt-cache show: name
apt-cache policy: name
dnf search: same*
apk search: same*
brew search: same*
brew info: name
brew list: same*
snap find: same*
npm search --json: same*
npm view --json: same*
npm outdated: same*
pip show: name
pip list --outdated: same*
gem search: same*
cargo search --limit=#: same*
cargo info: same
docker ps -a --all: same*
docker images: same*
docker search --limit=#: same*
docker logs --tail=# -n=# -t: same
docker inspect: same
docker stats --no-stream: same*
podman ps -a --all: same*
podman search --limit=#: same*
podman logs --tail=# -t: same
aws s3 ls: same*
helm list -A -n= --namespace=: same*
helm search repo: same*
helm search hub: same*
helm status -n= --namespace=: same
gh auth status: same*
gh search repos --json= --limit=#: same*
gh search issues --json= --limit=# --repo= --state=: same*
gh search prs --json= --limit=# --repo= --state=: same*
gh search code --json= --limit=# --repo=: same*
gh repo view --json=: same
gh issue list --json= --limit=# -L=# --repo= -R= --state=: same*
gh issue view --json= --comments --repo= -R=: number
gh pr list --json= --limit=# -L=# --repo= -R= --state=: same*
gh pr view --json= --comments --repo= -R=: number
gh pr diff --repo= -R=: number
gh pr checks --repo= -R=: number
gh run list --json= --limit=# -L=# --repo= -R=: same*
gh run view --json= --log --repo= -R=: number
gh release list --limit=# -L=# --repo= -R=: same*
glab issue view --comments -R=: number
glab mr view --comments -R=: number
kubectl logs --tail=# -n= --namespace=: same
kubectl describe pod -n= --namespace=: same
kubectl get pod -n= --namespace= -o=: same*
kubectl get pods -n= --namespace= -o= -A: same*
kubectl get nodes -o=: same*
systemctl status --no-pager: same
journalctl --no-pager -n=# -u=: same
curl -s -S -L -f -i -I -v --silent --show-error --location --fail --compressed -X= -H= -m=#: url
wget -q --quiet --spider -T=# --timeout=# --method= --header= -O=: url
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Usage:
    """The usage of a program. `options` maps each option to the kind of its value, None for none.

    `slots` are the kinds of the other words; with `repeats`, the last kind holds for any more.
    """

    options: Mapping[str, _Slot | None]
    slots: tuple[_Slot, ...]
    repeats: bool


def leave_open(words: Sequence[str], *, is_outward: bool) -> tuple[str, ...] | None:
    """Return the words of a command, with marks instead of those that are plain data.

    `is_outward` means that data leaves this machine: then only numbers are left open. None means
    that no usage tells what the words do.
    """
    for count in range(min(_MOST_WORDS, len(words)), 0, -1):
        if usage := _TABLE.get(tuple(words[:count])):
            found = _read(usage, words[count:], is_outward=is_outward)
            return None if found is None else (*words[:count], *found)
    return None


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
    if slot == "url":
        return _mark_url(word)
    if slot == "same" or is_outward:
        return word
    pattern, mark = (_NAME, ANY_NAME) if slot == "name" else (_WORDS, ANY_WORDS)
    return mark if pattern.fullmatch(word) else word


def _mark_url(url: str) -> str:
    """Return an address with marks for the numbers in its path."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    plain = f"{parts.scheme}://{parts.netloc}{parts.path}"
    if parts.scheme not in ("http", "https") or "@" in parts.netloc or plain != url:
        return url
    path = "/".join(_mark("number", one, is_outward=True) for one in parts.path.split("/"))
    return f"{parts.scheme}://{parts.netloc}{path}"


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
