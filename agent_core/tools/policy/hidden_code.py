"""Find the words that make a harmless program run code, or that let a builtin change a variable."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from agent_core.tools.policy.programs import DECLARING, is_strange
from agent_core.tools.policy.shell import Word

_RUNNING_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "sort": ("--compress-program",),
    "rg": ("--pre", "--hostname-bin"),
    "split": ("--filter",),
    "install": ("--strip-program",),
}
"""Options whose value is a program that runs. Each may be shortened."""
_PACKING = (
    "cdfhklnqtvz0123456789T",
    (
        "--keep --force --quiet --verbose --stdout --to-stdout --decompress --uncompress"
        " --compress --test --list --best --fast --no-name --threads --rm --ultra --extreme"
        " --help --version"
    ),
)
_PLAIN_OPTIONS: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(("gzip", "gunzip", "bzip2", "bunzip2"), _PACKING),
    **dict.fromkeys(("xz", "unxz", "zcat"), (f"{_PACKING[0]}e", _PACKING[1])),
    "zstd": (f"{_PACKING[0]}o", _PACKING[1]),
    "csplit": ("ksznq0123456789", "--keep-files --quiet --silent --elide-empty-files --digits"),
    "split": (
        "abdeCklnrtux0123456789/",
        (
            "--lines --bytes --line-bytes --number --numeric-suffixes --hex-suffixes"
            " --suffix-length --verbose --elide-empty-files --separator --unbuffered"
        ),
    ),
}
"""Programs whose other options compose the names of files, or read them from a file: the letters
and the names of those that don't."""
_PLAIN_SSH = re.compile(
    r"(?:StrictHostKeyChecking|ConnectTimeout|BatchMode|ServerAlive\w+|Port|User|LogLevel)[ =]",
    re.I,
)
_VALUED_LETTERS = frozenset("abCnlt")
_NAME = re.compile(r"[A-Za-z_]\w*")
_PLAIN_SUM = re.compile(r"\w+=\d+")
_FIRST_OF_OPTION = frozenset("$`-{*?[…")
_GLOBS = ("*", "?", "[")

_SED_LINE = r"(?:\d+|\$|/[^/\\\n]*/)"
_SIMPLE_SED = re.compile(
    rf"(?:{_SED_LINE}(?:,{_SED_LINE})?)?"
    r" *(?:[pdq=]|s([/|#,])(?:(?!\1)[^\\\n]|\\[^\n])*\1(?:(?!\1)[^\\\n]|\\[^\n])*\1[gipI\d]*)"
)

_SED_OPTIONS = frozenset(
    (
        *("--quiet", "--silent", "--regexp-extended", "--separate", "--unbuffered", "--null-data"),
        *("--posix", "--debug", "--sandbox", "--follow-symlinks", "--zero-terminated", "--help"),
    )
)
_OF_OTHER_FOLDERS = frozenset("/*")


def may_run_words(name: str, words: Sequence[Word]) -> bool:
    """True if a program may run something named by its words, or change how later ones run.

    Bash evaluates the index in a variable's name, so a name such as `a[$(x)]` is a command.
    """
    values = [word.value for word in words]
    if name in _PLAIN_OPTIONS and not all(_is_plain(name, value) for value in values):
        return True
    if name in _RUNNING_OPTIONS:
        return _has_running_option(_RUNNING_OPTIONS[name], words)
    if name == "find":
        return any(_may_split(word) for word in words)
    if name in ("hash", "jobs", "wait"):
        letter = {"hash": "p", "jobs": "x", "wait": "p"}[name]
        return any(value and value.startswith("-") and letter in value for value in values)
    if name in ("test", "["):
        return _tests_variable(words)
    if name == "printf":
        first = values[0] if values else ""
        target = (first or "")[2:] or (values[1] if values[1:] else None)
        return first is None or (first.startswith("-v") and not _is_safe_name(target))
    if name in ("read", "getopts"):
        return any(value is None or "[" in value or is_strange(value) for value in values)
    if name == "let":
        return not all(value and _PLAIN_SUM.fullmatch(value) for value in values)
    return name in DECLARING and any(_declares_more(name, word) for word in words)


def _is_plain(name: str, value: str | None) -> bool:
    """True for an operand, and for an option that names no file. An unknown word is an operand."""
    if value is None or not value.startswith("-"):
        return True
    letters, long = _PLAIN_OPTIONS[name]
    if value.startswith("--"):
        return value == "--" or value.partition("=")[0] in long.split()
    for letter in value[1:]:
        if name == "split" and letter in _VALUED_LETTERS:
            return True
        if letter not in letters:
            return False
    return True


def names_local_program(name: str, words: Sequence[Word]) -> bool:
    """True if a program of the network may run another on this machine, or load a library."""
    values = [word.value for word in words]
    if name in ("socat", "lftp"):
        return True
    if name in ("nc", "ncat", "netcat"):
        return any(_has_letter(value, "ec") for value in values)
    if name not in ("ssh", "scp", "sftp"):
        return False
    pairs = pairwise([*values, ""])
    return any(_has_letter(one, "FSIED") or _sets_more(one, two or "") for one, two in pairs)


def _has_letter(value: str | None, letters: str) -> bool:
    return value is None or (value.startswith("-") and bool(set(value[1:]) & set(letters)))


def _sets_more(value: str | None, following: str) -> bool:
    """True for an option `-o` of SSH with a setting that may name a program or a file."""
    if value is None or not value.startswith("-") or "o" not in value:
        return False
    given = value.partition("o")[2] or following
    return _PLAIN_SSH.match(given) is None


def _has_running_option(options: tuple[str, ...], words: Sequence[Word]) -> bool:
    for word in words:
        if word.value == "--":
            return False
        if word.value is None or word.source.startswith(_GLOBS):
            if word.source.lstrip("\"'")[:1] in _FIRST_OF_OPTION:
                return True
            continue
        given = word.value.partition("=")[0]
        if len(given) > 2 and any(option.startswith(given) for option in options):
            return True
    return False


def _may_split(word: Word) -> bool:
    """True for a word that bash may replace by several unknown words."""
    is_quoted = word.source.startswith('"') and word.source.endswith('"')
    return word.value is None and not (is_quoted and "@" not in word.source)


def _tests_variable(words: Sequence[Word]) -> bool:
    """True if a test may look for a variable that is not named plainly."""
    operands = [word for word in words if word.value not in ("]", "!")]
    if any(_may_split(word) for word in operands):
        return True
    if len(operands) == 2 and operands[0].value is None:
        return True
    pairs = pairwise(operands)
    return any(one.value in ("-v", "-R") and not _is_safe_name(two.value) for one, two in pairs)


def _declares_more(name: str, word: Word) -> bool:
    """True for an unknown or strange name, or an option for references and sums."""
    text = word.source if word.value is None else word.value
    if word.value is None and "=" not in text:
        return True
    if text.startswith("-"):
        return name != "export" and name != "unset" and bool({"n", "i"} & set(text))
    given = text.partition("=")[0].removesuffix("+")
    return "[" in given or is_strange(given)


def _is_safe_name(value: str | None) -> bool:
    return value is not None and _NAME.fullmatch(value) is not None and not is_strange(value)


def is_simple_edit(values: Sequence[str | None]) -> bool:
    """True for words of `sed` whose script runs no program and writes no other file."""
    scripts = [value for value in values if value and not value.startswith("-")][:1]
    is_simple = bool(scripts) and _SIMPLE_SED.fullmatch(scripts[0]) is not None
    return is_simple and all(_is_plain_option(value) for value in values)


def edits_in_place(value: str) -> bool:
    """True for an option of `sed` that makes it write the files that it reads."""
    if value.startswith("--"):
        return "--in-place".startswith(value.partition("=")[0]) and len(value) > 2
    return value.startswith("-") and "i" in value


def _is_plain_option(value: str | None) -> bool:
    """True for a word of `sed` that holds no further script, and names no file for one or a copy.

    The suffix of a copy may name another folder.
    """
    if value is None or not value.startswith("-"):
        return value is not None
    if value.startswith("--"):
        name, _, suffix = value.partition("=")
        is_plain = name in _SED_OPTIONS
        return is_plain or (edits_in_place(value) and not set(suffix) & _OF_OTHER_FOLDERS)
    letters, found, suffix = value[1:].partition("i")
    return set(letters) <= set("nErsuz") and not (found and set(suffix) & _OF_OTHER_FOLDERS)
