"""Find out from a program's arguments whether it installs, sends or fetches."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from urllib.parse import urlsplit

from agent_core.tools.policy import git, programs
from agent_core.tools.policy.outputs import list_operands, merges_unknown
from agent_core.tools.policy.shell import Word

_HOST = re.compile(r"(?:[\w-]+\.)+[A-Za-z]{2,}|localhost|\d+(?:\.\d+){3}")
_OPERATORS = frozenset("();<>|&\n")
_CURL_GLOB = frozenset("[]{}")
"""Signs of an address that stands for many."""
_AFTER_FETCH = (
    programs.READERS
    | programs.WRITERS
    | programs.COPIERS
    | frozenset(("sort", "uniq", "cut", "tr", "jq", "column", "md5sum", "sha256sum"))
) - frozenset(("find", "git"))
"""Programs that may follow a fetch; a word of the shell, such as `while`, is none of them."""
_FOLDER = re.compile(r"^\(in [^()]*\) ")
_PLAIN_OPTION = re.compile(
    r"-[sSLfOoq]+-?|--(?:silent|location|fail|quiet|compressed|output|output-document)"
)
_TO_OUTPUT = re.compile(r"-[a-zA-Z]*[oO]-")
_SCP_FLAGS = re.compile(r"-[346BCpqrv]+")
_REMOTE_FILE = re.compile(r"(?:[\w.+-]+@)?([\w.-]+):(?!\\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """The effects of one program. `host` is its destination; "" if that is unknown."""

    installs: bool = False
    sends: bool = False
    host: str = ""
    urls: tuple[str, ...] = ()
    written: tuple[Word, ...] = ()
    deleted: tuple[Word, ...] = ()
    settings: tuple[str, ...] = ()
    """Settings of git that may name a program, each with its value."""
    is_unclear: bool = False


def host_of(url: str) -> str:
    """Return the host of an address, with or without a scheme; "" for none."""
    text = url if "://" in url else f"http://{url}"
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        return ""
    return f"{host}:{port}" if host and port else host or ""


def fetches_plainly(text: str, url: str) -> bool:
    """Return whether a command line fetches an address once, and tells its host nothing else.

    It begins with curl, wget or git, with options that take no value, or with the name of a file to
    write. Only programs that stay on this machine, and run nothing else, may follow.
    """
    lexer = shlex.shlex(_FOLDER.sub("", text), posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace_split, lexer.commenters, lexer.whitespace = True, "", " \t\r"
    try:
        words = list(lexer)
    except ValueError:
        return False
    segments: list[list[str]] = [[]]
    for word in words:
        if word in ("|", "&&", ";"):
            segments.append([])
        elif set(word) <= _OPERATORS and word not in (">", ">>"):
            return False
        else:
            segments[-1].append(word)
    own, *later = segments
    is_once = all(one[:1] and one[0] in _AFTER_FETCH for one in later)
    return is_once and _tells_nothing(_leave_out_targets(own), url)


def _leave_out_targets(words: Sequence[str]) -> list[str]:
    """Leave out the files to which the output of a command goes."""
    pairs = zip(["", *words], words, strict=False)
    return [word for before, word in pairs if not {before, word} & {">", ">>"}]


def _tells_nothing(words: Sequence[str], url: str) -> bool:
    """Return whether a command fetches an address, and its options carry nothing."""
    program = words[0] if words else ""
    if program == "git":
        rest = words[4:] if list(words[2:4]) == ["--depth", "1"] else words[2:]
        return words[1:2] == ["clone"] and list(rest[:1]) == [url] and len(rest) < 3
    with_file = {"curl": ("-o", "--output"), "wget": ("-O", "--output-document")}.get(program)
    if with_file is None or set(url) & _CURL_GLOB:
        return False
    given = [word for before, word in pairwise(words) if before not in with_file]
    operands = [word for word in given if not word.startswith("-")]
    options = [word for word in given if word.startswith("-")]
    return operands == [url] and all(_PLAIN_OPTION.fullmatch(word) for word in options)


def judge(name: str, words: Sequence[Word]) -> Transfer | None:
    """Return a program's use of the network; None if it is not known to use the network."""
    values = [word.value for word in words]
    if name == "curl":
        return _curl(words)
    if name == "wget":
        return _wget(words)
    if name == "git":
        return _git(words)
    if name == "rsync":
        return _rsync(words)
    if name in programs.INSTALLERS:
        return Transfer(installs=True)
    if name in programs.SENDERS:
        named = _list_ends(values) if name == "scp" else values
        return Transfer(sends=True, host=_remote(named))
    if name in programs.PUBLISHERS and _has(values, programs.PUBLISHERS[name]):
        return Transfer(sends=True)
    if name in programs.MANAGERS and _has(values, programs.MANAGERS[name]):
        return Transfer(installs=True)
    if name.startswith(("python", "pypy")) and values[:2] == ["-m", "pip"]:
        return Transfer(installs=_has(values[2:], programs.MANAGERS["pip"]), is_unclear=True)
    if name == "yarn" and not values:
        return Transfer(installs=True)
    return None


def _has(values: Sequence[str | None], names: frozenset[str]) -> bool:
    """True if a word is in `names`, or is unknown."""
    return any(value is None or value in names for value in values)


def _list_ends(values: Sequence[str | None]) -> Sequence[str | None]:
    """Leave out the local files of `scp`, whose names may look like hosts."""
    options = [one for one in values if one is not None and one.startswith("-")]
    if not all(_SCP_FLAGS.fullmatch(one) for one in options):
        return values  # an option such as `-J` may name a host of its own
    return [one for one in values if one is None or ":" in one]


def _remote(values: Sequence[str | None]) -> str:
    """Return the only host in the words; "" if there is no host, or more than one."""
    hosts = set[str]()
    for value in values:
        if value is None:
            return ""
        if "://" in value:
            hosts.add(host_of(value))
        elif not value.startswith("-") and (found := _REMOTE_FILE.match(value)):
            hosts.add(found[1])
        elif not value.startswith("-") and (value.count("@") == 1 or _HOST.fullmatch(value)):
            hosts.add(value.rpartition("@")[2])
    return next(iter(hosts)) if len(hosts) == 1 else ""


def _curl(words: Sequence[Word]) -> Transfer:
    """Read `curl`: it sends if any option could carry data."""
    return _download(words, programs.CURL_FLAGS, programs.CURL_LONG, programs.CURL_WITH_WORD)


def _wget(words: Sequence[Word]) -> Transfer:
    return _download(words, programs.WGET_FLAGS, programs.WGET_LONG, programs.WGET_WITH_WORD)


def _download(
    words: Sequence[Word], flags: frozenset[str], long: frozenset[str], with_word: frozenset[str]
) -> Transfer:
    urls, written, is_plain, is_clear = list[str](), list[Word](), True, True
    position = 0
    while position < len(words):
        word = words[position]
        position += 1
        value = word.value
        if value is not None and _TO_OUTPUT.fullmatch(value):
            value = value[:-2]  # `-O-` writes to the output
        if value is None:
            is_plain = is_clear = False
        elif not value.startswith("-"):
            urls.append(value)
        elif (named := value.partition("=")[0]) in with_word:
            given = words[position : position + 1]
            if "=" in value:
                given = [Word(source=word.source, value=value.partition("=")[2])]
            else:
                position += 1
            if named in programs.WRITING_OPTIONS:
                written += [one for one in given if one.value != "-"]
        elif value in programs.CURL_DATA:
            is_plain, position = False, position + 1
        elif value not in long and (value[1:2] == "-" or not set(value[1:]) <= flags):
            is_file = value[1:2] != "-" and value[-1:] in "oO" and set(value[1:-1]) <= flags
            if is_file:  # joined options, such as `-sSo`
                written += words[position : position + 1]
                position += 1
            else:
                is_plain = is_clear = False
    if is_plain and urls:
        return Transfer(urls=tuple(urls), written=tuple(written))
    hosts = {host_of(url) for url in urls}
    host = next(iter(hosts)) if len(hosts) == 1 and is_clear else ""
    return Transfer(sends=True, host=host, written=tuple(written), is_unclear=not is_clear)


def _git(words: Sequence[Word]) -> Transfer:
    """Read `git`: what its words name, and where it sends or fetches."""
    call = git.read(words)
    found = Transfer(
        settings=tuple(call.settings), written=tuple(call.written), is_unclear=call.is_unclear
    )
    texts = [word.value for word in call.rest]
    if call.subcommand in git.SENDS:
        return replace(found, sends=True, host=_remote(texts))
    if call.subcommand in git.FETCHES:
        urls = [text for text in texts if text and ("://" in text or _REMOTE_FILE.match(text))]
        is_plain = all(url.startswith(("https://", "http://", "git://")) for url in urls)
        if None in texts or not urls or not is_plain:
            return replace(found, sends=True, host=_remote(texts))
        return replace(found, urls=tuple(urls))
    if call.subcommand == "clean" and not git.is_dry_run(call.rest):
        found = replace(found, deleted=(Word(source="git clean", value="."),))
    elif call.subcommand in ("rm", "mv"):
        found = replace(found, deleted=tuple(list_operands(call.rest)))
    is_known = call.subcommand in git.LOCAL or not call.subcommand
    return replace(found, is_unclear=found.is_unclear or not is_known)


_RSYNC_LETTERS = frozenset("avrlptgoDHAXxnhzPuciqWSdRkLKEU0123456789")
_RSYNC_LONG = frozenset(
    (
        *("--archive", "--verbose", "--recursive", "--links", "--perms", "--times", "--group"),
        *("--owner", "--dry-run", "--human-readable", "--compress", "--progress", "--partial"),
        *("--stats", "--checksum", "--update", "--delete", "--exclude", "--include", "--quiet"),
        *("--itemize-changes", "--ignore-existing", "--existing", "--size-only", "--info"),
        *("--hard-links", "--max-size", "--min-size", "--copy-links", "--numeric-ids"),
    )
)
"""Options of rsync that name no program and no other file to write."""


def _rsync(words: Sequence[Word]) -> Transfer:
    values = [word.value for word in words]
    operands = list_operands(words)
    is_unclear = merges_unknown("rsync", words) or not all(map(_is_plain_rsync, values))
    if _remote(values) or None in values:
        return Transfer(sends=True, host=_remote(values), is_unclear=is_unclear)
    deleted = tuple(operands[-1:]) if any(v and v.startswith("--del") for v in values) else ()
    return Transfer(written=tuple(operands[-1:]), deleted=deleted, is_unclear=is_unclear)


def _is_plain_rsync(value: str | None) -> bool:
    """True for an operand, and for an option that names no program and no other file."""
    if value is None or value.startswith("--"):
        return value is not None and value.partition("=")[0] in _RSYNC_LONG
    return not value.startswith("-") or set(value[1:]) <= _RSYNC_LETTERS
