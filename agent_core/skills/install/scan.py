"""The scan of a skill before it is installed. The scan reads the files and runs none of them."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from agent_core.skills.catalog import SKILL_FILE, read_skill_folder
from agent_core.skills.install.contract import Finding, InstallSourceKind, ScanReport, Severity
from agent_core.skills.install.rules import RULES
from agent_core.skills.install.stage import walk
from agent_core.tools.secret_scan import find_secret
from agent_core.transcript import is_hidden

_PROSE = frozenset({".md", ".txt", ".rst", ".csv", ".xml", ".html", ".htm", ".svg", ".json", ""})
"""Endings of files in which code is an example."""
_HARMLESS = (
    b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"%PDF", b"\0\1\0\0", b"OTTO", b"ttcf",
    b"wOFF", b"wOF2", b"\0\0\1\0", b"ID3", b"OggS", b"\0\0\0",
)  # fmt: skip
"""First bytes of pictures, fonts, sound and PDF files."""
_PROGRAMS = (b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\0asm")
_LICENCES = (
    ("Apache-2.0", r"Apache License\s+Version 2\.0"),
    ("MIT", r"\bMIT License\b|Permission is hereby granted, free of charge"),
    ("AGPL", r"GNU AFFERO GENERAL PUBLIC LICENSE"),
    ("LGPL", r"GNU LESSER GENERAL PUBLIC LICENSE"),
    ("GPL", r"GNU GENERAL PUBLIC LICENSE"),
    ("MPL-2.0", r"Mozilla Public License"),
    ("BSD", r"Redistribution and use in source and binary forms"),
    ("OFL-1.1", r"SIL OPEN FONT LICENSE"),
    ("CC", r"Creative Commons"),
    ("Unlicense", r"This is free and unencumbered software"),
)
_RESERVED = re.compile(r"all rights reserved|\bproprietary\b", re.IGNORECASE)
_MIXED = re.compile(r"[A-Za-z]{0,40}[\u0370-\u03ff\u0400-\u04ff][A-Za-z]|[A-Za-z][\u0400-\u04ff]")
_JOINERS = "\u200c\u200d"
_INVISIBLE = re.compile(
    r"[\u00ad\u034f\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    r"\U000e0000-\U000e0fff]"
)
_LONGEST = 400_000
"""The most characters of a file that are scanned; more would take many seconds."""
_UNUSUAL = re.compile(r"[^\x20-\x7e\n\r\t\f]")
_LICENCE_FILES = ("LICENSE", "LICENCE", "COPYING")


def scan_skill(folder: Path) -> ScanReport:
    """Scan a copied skill, which contains no links. Blocks.

    Raises `SkillBroken`, and `OSError` if it is unreadable.
    """
    skill = read_skill_folder(folder)
    found: list[Finding] = []
    files = size = 0
    texts: dict[str, str] = {}
    for path, file in walk(folder):
        content = file.read_bytes()
        files, size = files + 1, size + len(content)
        text = _decode(content)
        if text is None:
            found.extend(_judge_binary(path, content))
        else:
            found.extend(_scan_text(path, text))
            if path.upper().startswith(_LICENCE_FILES):
                texts[path] = text
    licence, findings = _judge_licence(skill.license, texts)
    found.extend(findings)
    order = ("danger", "caution", "note")
    found.sort(key=lambda one: (order.index(one.severity), one.kind, one.path, one.line))
    return ScanReport(findings=found, files=files, size=size, licence=licence)


def _decode(content: bytes) -> str | None:
    """Return the text of a file, None for a binary one."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    if b"\0" in content or content.startswith((b"%PDF", *_PROGRAMS[1:3])):
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _judge_binary(path: str, content: bytes) -> Iterator[Finding]:
    if content.startswith(_PROGRAMS) or path.endswith((".pyc", ".so", ".dll", ".dylib", ".exe")):
        yield _find("obfuscation", "danger", path, 0, "is a compiled program")
    elif not content.startswith(_HARMLESS):
        yield _find("obfuscation", "caution", path, 0, "is a binary file that nobody can read")


def _scan_text(path: str, text: str) -> Iterator[Finding]:
    if len(text) > _LONGEST:
        what = f"is long; only its first {_LONGEST:,} characters are scanned"
        yield _find("obfuscation", "caution", path, 0, what)
        text = text[:_LONGEST]
    yield from _find_hidden(path, text)
    # Invisible characters may split a word, and wide letters may replace plain ones.
    plain = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text))
    is_script = PurePosixPath(path).suffix.lower() not in _PROSE or text.startswith("#!")
    for rule in RULES:
        if rule.place != "any" and (rule.place == "script") != is_script:
            continue
        starts = [match.start() for match in rule.pattern.finditer(plain)]
        if starts:
            line = plain.count("\n", 0, starts[0]) + 1
            yield _find(rule.kind, rule.severity, path, line, rule.what, len(starts))
    for number, words in enumerate(plain.split("\n"), 1):
        if secret := find_secret(words):
            yield _find("secrets", "danger", path, number, f"contains {secret}")
            break


def _find_hidden(path: str, text: str) -> Iterator[Finding]:
    """Find characters that a reader does not see. Emoji and some scripts need a joiner."""
    places = [
        position
        for match in _INVISIBLE.finditer(text)
        if not _is_expected(text, position := match.start())
    ]
    places += [
        match.start()
        for match in _UNUSUAL.finditer(text)
        if match[0] not in _JOINERS and is_hidden(match[0]) and not _INVISIBLE.match(match[0])
    ]
    if places:
        line = text.count("\n", 0, min(places)) + 1
        name = f"U+{ord(text[min(places)]):04X}"
        what = f"contains characters that nobody sees ({name})"
        yield _find("hidden unicode", "danger", path, line, what, len(places))
    if mixed := _MIXED.search(text):
        line = text.count("\n", 0, mixed.start()) + 1
        what = "mixes alphabets in one word"
        yield _find("hidden unicode", "caution", path, line, what)


def _is_expected(text: str, position: int) -> bool:
    """True for a byte-order mark, a soft hyphen in a word, and a joiner between wide letters."""
    sign, before = text[position], text[position - 1 : position]
    if sign == "\ufeff":
        return position == 0
    return sign in _JOINERS and before > "\u02ff"


def _judge_licence(named: str, texts: dict[str, str]) -> tuple[str, Sequence[Finding]]:
    """Name the licence by its text, or else by the front matter."""
    for path, text in texts.items():
        label = next((name for name, sign in _LICENCES if re.search(sign, text, re.I)), "")
        if label:
            return f"{label} ({path})", ()
        if _RESERVED.search(text):
            what = "keeps all rights; you may not be allowed to use it"
            return f"none ({path})", (_find("licence", "caution", path, 0, what),)
    if _RESERVED.search(named):
        what = "keeps all rights; you may not be allowed to use it"
        return named, (_find("licence", "caution", SKILL_FILE, 0, what),)
    if not named and not texts:
        what = "has no licence; ask its author before you share it"
        return "", (_find("licence", "note", SKILL_FILE, 0, what),)
    return " ".join(named.split()) or next(iter(texts)), ()


def _find(
    kind: InstallSourceKind, severity: Severity, path: str, line: int, what: str, count: int = 1
) -> Finding:
    return Finding(kind=kind, severity=severity, path=path, line=line, what=what, count=count)
