"""Extract every sentence for people, keep the catalogues current, and show all on one page.

    python -m tools.texts            update the catalogues and the page
    python -m tools.texts --check    fail if one of them is out of date or incomplete

Sentences are `Text` and `Plural` constants, and the summaries of commands. A catalogue is
`agent_core/locale/<language>/LC_MESSAGES/talaria.po`; translate it with any gettext
editor. The page is `tests/gateway/texts/all_texts.md`.
"""

import ast
import re
import string
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polib

from agent_core.localization import LANGUAGES, Plural, Text, use_language

ROOT = Path(__file__).resolve().parents[1]
LOCALE = ROOT / "agent_core" / "locale"
PAGE = ROOT / "tests" / "gateway" / "texts" / "all_texts.md"
MOST_SUMMARY = 50
"""Characters of a command's summary; Telegram shows about this many on a phone."""
_TWICE = re.compile(r"(.{12,})\s?\1", re.DOTALL)
TRANSLATIONS = [tag for tag in LANGUAGES if tag != "en"]
SAMPLES: dict[str, object] = {
    "members": "writer, checker",
    "supervisor": "editor",
    "rounds": 3,
    "steps": 40,
    "blocks": "news",
    "task": "write the news",
    "source": "desk",
    "files": "a.txt, notes/b.txt",
    "file": "a.txt",
    "claim": "I've set a reminder.",
    "question": "Which Ben do you mean?",
    "prompt": "review",
    "fields": "`City` and `Nights`",
    "host": "`pay.example.org`",
    "message": "`Where do you want to go?`",
    "url": "https://pay.example.org/invoice/1",
    "always": "Always for this kind",
    "doubt": "The wording is mine, so please check it.",
    "fault": "the agent coder can't be used: SOUL.md is empty",
    "near": "coder",
    "details": "weather did not connect: connection refused.",
    "cause": "There's no agent called “codr”. Did you mean “coder”?",
    "call": "```\ngit push\n```",
    "place": "github.com",
    "reach": "```\nsend (github.com): git push\n```",
    "scope": "always",
    "session": "For this conversation",
    "shape": "terminal: send git push → github.com",
    "shapes": "```\nterminal: send git push → github.com\n```",
    "tags": "code, tests",
    "target": "git push",
    "tool": "terminal",
    "action": "Running a command `make`",
    "nearest": "status",
    "page": "Memory",
    "weekdays": "Monday and Friday",
    "words": "new invoice",
    "pattern": "*.pdf",
    "times": "At 08:00 and at 18:30",
    "region": "AT",
    "calendar": "school.ics",
    "rule": "FREQ=YEARLY;BYDAY=20MO",
    "nth": "first",
    "months": "June and July",
    "account": "`Anna` on Telegram (id `4711`)",
    "accounts": "telegram:4711, slack:U012ABC",
    "actor": "by you",
    "address": "https://t.me/talaria_bot?start=link-ABCD-EFGH",
    "active": 8,
    "after": 12_400,
    "archived": 4,
    "draft": 1,
    "stale": 3,
    "trial": 2,
    "amount": 1.5,
    "input": 2.0,
    "output": 10.0,
    "sees": "sees pictures, reads files",
    "price": "$2.00 per million tokens read, $10.00 per million written",
    "audience": "`Ben`",
    "before": 61_000,
    "cap": "at most 50,000 tokens",
    "category": "violence",
    "change": "saved `Anna likes tea`",
    "body": "Say good morning.",
    "chat": "Telegram",
    "choice": "always",
    "city": "Vienna",
    "there": "tomorrow, 3:30",
    "clock": "22:04",
    "approve": "`/approve ABCD-EFGH`",
    "linking": "`/link`",
    "code": "ABCD-EFGH",
    "command": "approve",
    "commands": "/undo 14 and /undo 13",
    "correction": "Write your city.",
    "cost": "$0.12",
    "count": 3,
    "counts": "- Notes: 2\n- Messages: 5",
    "date": "2026-11-23",
    "day": 23,
    "days": "Monday and Friday",
    "days_off": "sat,sun",
    "description": "books we want to read",
    "detail": "the server is overloaded",
    "digests": "- **Morning news**: Mon 2026-11-23 08:00",
    "dollars": 0.1234,
    "done": 2,
    "due": "Mon 2026-11-23 08:00",
    "due_next": "Tue 2026-11-24 08:00",
    "entry": "Anna likes tea",
    "unread": "except on full moon",
    "earlier": "“Paint it white”",
    "later": "“No, I meant white”",
    "was": "Use blue paint.",
    "entries": "1. `Likes tea`\n2. `Lives in Graz`",
    "one": "One by one",
    "newer": "24 November 2026",
    "work": "terminal: sort errors.log",
    "guess": "`Perhaps prefers mornings`",
    "percent": 70,
    "net": "$0.40",
    "table": "Table by day",
    "old": "draft",
    "admission": "approved by code: yesterday",
    "new": "on trial",
    "saved": "$0.50",
    "extra": "$0.10",
    "premises": "`Gets up at five`, `Swims before work`",
    "expression": "0 8 1-7 * 1",
    "extent": "the first 20,000 characters",
    "faults": "- Notes/SKILL.md has no description.",
    "first": "Anna",
    "gateway.texts.jobs.first": "2027-04-03 at 9",
    "first_date": "Sat 3 Apr 2027, 9:00",
    "second": "2027-03-04 at 9",
    "second_date": "Thu 4 Mar 2027, 9:00",
    "hour": 8,
    "hours": "22:00-07:00",
    "link": "https://talaria.example.org/login?link=x",
    "minutes": 10,
    "id": 3,
    "job": "**Morning news**",
    "job_id": 3,
    "kept": 20_000,
    "label": "books",
    "language": "de",
    "languages": "English and Deutsch",
    "last": "Ben",
    "least": 8_000,
    "left": 180_000,
    "limit": 2_000,
    "line": "1. `Anna` on Telegram (id `4711`), since 2026-11-01, approved by code",
    "lines": "\n- `lisbon in May`",
    "megabytes": 312.4,
    "messages": 12,
    "minute": 0,
    "model": "claude-sonnet",
    "models": "claude-sonnet 2026-10-01",
    "moment": "Mon 2026-11-23 08:00",
    "moments": "Mon 2026-11-23 08:00; Tue 2026-11-24 08:00",
    "money": "$0.12",
    "month": 11,
    "most": 4,
    "name": "Anna",
    "names": "Anna and Ben",
    "next_at": "Tue 2026-11-24 08:00",
    "number": 3,
    "path": "memories/anna/USER.md",
    "platform": "Telegram",
    "purpose": "Answers",
    "quote": "`I prefer tea`",
    "read": 81_000,
    "cached": 64_000,
    "reason": "the server didn't answer.",
    "remains": "There are no backups in Talaria's folder.",
    "result": "Restored: Anna likes tea",
    "role": "owner",
    "row": 42,
    "run": "Mon 2026-11-23 08:00: done",
    "seconds": 12,
    "secret": "a GitHub token",
    "setting": "cost.person_day_usd",
    "settings": "- Time zone: Europe/Vienna",
    "share": 0.85,
    "shown": "- `Anna likes tea`",
    "sign": "⏳",
    "size": 1_200,
    "slug": "anna",
    "sources": "the file `report.pdf`",
    "spent": "$0.12 of $1.00",
    "state": "Next: Mon 2026-11-23 08:00.",
    "status": "Messages: 12",
    "step": "3: 2026-11-23 08:00, by you: deleted",
    "targets": "Telegram",
    "time": "08:00",
    "timing": "At 08:00",
    "title": "Morning news",
    "tokens": 3_200,
    "tools": "Searching conversations and Updating memory",
    "total": 20_000,
    "used": "$0.12",
    "user_id": "`4711`",
    "value": "someday",
    "verbosity": "Every step",
    "waiting": 2,
    "weekday": "Mon",
    "what": "“report.pdf”",
    "whole": 80_000,
    "written": 900,
    "year": 2026,
    "zone": "Europe/Vienna",
    "gateway.texts.access.hours": 8,
    "gateway.texts.curator.command": "/undo 14",
    "gateway.texts.job_results.status": 2,
    "gateway.texts.people.command": "/link ABCD-EFGH",
    "gateway.texts.usage.messages": "12 messages",
    "gateway.texts.usage.limit": "$2.00",
    "agent_core.schedule.gates.command": "make check",
}
"""Values of placeholders on the page, by name; a name with its module counts first."""
TRANSLATED_SAMPLES: dict[str, dict[str, object]] = {
    "de": {
        "account": "`Anna` in Telegram (ID `4711`)",
        "actor": "von dir",
        "cap": "höchstens 50.000 Tokens",
        "change": "`Anna mag Tee` gespeichert",
        "cost": "0,12 $",
        "net": "0,40 $",
        "table": "Tabelle nach Tagen",
        "old": "Entwurf",
        "admission": "mit Code zugelassen: gestern",
        "new": "auf Probe",
        "saved": "0,50 $",
        "extra": "0,10 $",
        "doubt": "Die Worte sind von mir, bitte prüf sie.",
        "entries": "1. `Mag Tee`\n2. `Wohnt in Graz`",
        "one": "Einzeln",
        "newer": "24.11.2026",
        "counts": "- Notizen: 2\n- Nachrichten: 5",
        "date": "23.11.2026",
        "days": "Montag und Freitag",
        "weekdays": "Montag und Freitag",
        "times": "Um 08:00 und um 18:30",
        "nth": "ersten",
        "months": "Juni und Juli",
        "due": "Mo 23.11.2026 08:00",
        "due_next": "Di 24.11.2026 08:00",
        "extent": "die ersten 20.000 Zeichen",
        "line": "1. `Anna` in Telegram (ID `4711`), seit 01.11.2026, mit Code zugelassen",
        "moment": "Mo 23.11.2026 08:00",
        "moments": "Mo 23.11.2026 08:00; Di 24.11.2026 08:00",
        "money": "0,12 $",
        "names": "Anna und Ben",
        "next_at": "Di 24.11.2026 08:00",
        "purpose": "Antworten",
        "remains": "In Talarias Ordner gibt es keine Sicherungen.",
        "result": "Wiederhergestellt: Anna mag Tee",
        "role": "Besitzer",
        "run": "Mo 23.11.2026 08:00: erledigt",
        "settings": "- Zeitzone: Europe/Vienna",
        "sources": "die Datei `report.pdf`",
        "spent": "0,12 $ von 1,00 $",
        "state": "Nächstes Mal: Mo 23.11.2026 08:00.",
        "status": "Nachrichten: 12",
        "step": "3: 23.11.2026 08:00, von dir: gelöscht",
        "timing": "Um 08:00",
        "tools": "Unterhaltungen durchsuchen und Gedächtnis aktualisieren",
        "used": "0,12 $",
        "choice": "immer",
        "verbosity": "Jeden Schritt",
        "weekday": "Mo",
        "what": "„report.pdf“",
        "earlier": "„Streich es weiß“",
        "later": "„Nein, ich meinte weiß“",
        "commands": "/undo 14 und /undo 13",
        "gateway.texts.usage.messages": "12 Nachrichten",
        "gateway.texts.usage.limit": "2,00 $",
    }
}
"""Values that read otherwise in a language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence in the code; `other` is its plural, if it has one."""

    module: str
    english: str
    other: str | None = None
    is_summary: bool = False


def find_sentences() -> list[Sentence]:
    """Find every sentence in the code, by module and in the order of the lines."""
    found: list[Sentence] = []
    for folder in ("agent_core", "gateway"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            found += _find_in(path)
    return found


def _find_in(path: Path) -> Iterator[Sentence]:
    text = path.read_text(encoding="utf-8")
    is_source = path == ROOT / "agent_core" / "localization.py" or "agent_core.localization" in text
    if not is_source and "CommandSpec(" not in text:
        return
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        values = [*call.args, *(keyword.value for keyword in call.keywords)]
        words = [value.value for value in values if isinstance(value, ast.Constant)]
        if name == "Text" and words:
            yield Sentence(module=module, english=words[0])
        elif name == "Plural" and len(words) > 1:
            yield Sentence(module=module, english=words[0], other=words[1])
        elif name == "CommandSpec":
            summary = next(k.value for k in call.keywords if k.arg == "summary")
            if isinstance(summary, ast.Constant):
                yield Sentence(module=module, english=summary.value, is_summary=True)


def find_placeholders(pattern: str) -> set[str]:
    """Return the names of the placeholders in a sentence."""
    return {name for _, name, _, _ in string.Formatter().parse(pattern) if name}


def update_catalogue(language: str, sentences: list[Sentence]) -> str:
    """Return a catalogue with exactly these sentences, keeping the translations there are."""
    path = LOCALE / language / "LC_MESSAGES" / "talaria.po"
    known = {}
    if path.exists():
        known = {entry.msgid: entry for entry in polib.pofile(str(path))}
    catalogue = polib.POFile(wrapwidth=96)
    catalogue.metadata = {
        "Project-Id-Version": "Talaria",
        "Language": language,
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
        "Plural-Forms": "nplurals=2; plural=(n != 1);",
    }
    modules: dict[tuple[str, str | None], list[str]] = {}
    for sentence in sentences:
        key = (sentence.english, sentence.other)
        modules.setdefault(key, []).append(sentence.module)
    for (english, other), places in modules.items():
        old = known.get(english)
        occurrences = [(place, "") for place in dict.fromkeys(places)]
        entry = polib.POEntry(msgid=english, occurrences=occurrences)
        if other is None:
            entry.msgstr = old.msgstr if old else ""
        else:
            entry.msgid_plural = other
            plural = old.msgstr_plural if old else {}
            entry.msgstr_plural = {form: plural.get(form, "") for form in (0, 1)}
        catalogue.append(entry)
    return str(catalogue) + "\n"


def list_faults(language: str, catalogue: polib.POFile) -> Iterator[str]:
    """List the sentences that a catalogue lacks, has with other placeholders, or says twice."""
    for entry in catalogue:
        forms = list(entry.msgstr_plural.values()) if entry.msgid_plural else [entry.msgstr]
        english = [entry.msgid, entry.msgid_plural or entry.msgid]
        for pattern, original in zip(forms, english, strict=False):
            if not pattern:
                yield f"{language}: no translation of {original!r}"
            elif find_placeholders(pattern) - {"n"} != find_placeholders(original) - {"n"}:
                yield f"{language}: other placeholders in {pattern!r} than in {original!r}"
            elif _TWICE.fullmatch(pattern):
                yield f"{language}: {pattern!r} says everything twice"


def compose_page(sentences: list[Sentence]) -> str:
    """Compose the page with every sentence in every language."""
    lines = [
        "# All texts",
        "",
        "Generated by `python -m tools.texts`. Placeholders show sample values.",
    ]
    module = ""
    for sentence in sentences:
        if sentence.module != module:
            module = sentence.module
            head = " | ".join(LANGUAGES.values())
            lines += ["", f"## {module}", "", f"| {head} |", "|" + " --- |" * len(LANGUAGES)]
        for number in (1, 3) if sentence.other else (None,):
            cells = [render(sentence, language, number) for language in LANGUAGES]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def render(sentence: Sentence, language: str, number: int | None) -> str:
    """Render a sentence with sample values; `number` selects the form of a plural."""
    names = find_placeholders(sentence.english) | find_placeholders(sentence.other or "")
    values = {name: _sample(name, sentence, language) for name in names - {"n"}}
    with use_language(language):
        if number is not None and sentence.other is not None:
            shown = Plural(sentence.english, sentence.other)(number, **values)
        else:
            shown = Text(sentence.english)(**values)
    return shown.replace("|", "\\|").replace("\n", "<br>")


def _sample(name: str, sentence: Sentence, language: str) -> object:
    """Return the sample of a placeholder; a number where it is formatted as one."""
    samples = SAMPLES | TRANSLATED_SAMPLES.get(language, {})
    value = samples.get(f"{sentence.module}.{name}", samples[name])
    pattern = sentence.english
    is_number = any(n == name and spec for _, n, spec, _ in string.Formatter().parse(pattern))
    return 3 if is_number and isinstance(value, str) else value


def list_outdated(*, fix: bool) -> list[str]:
    """Compare the catalogues and the page with the code; with `fix`, write them again."""
    sentences = find_sentences()
    faults = []
    for tag in TRANSLATIONS:
        path = LOCALE / tag / "LC_MESSAGES" / "talaria.po"
        faults += _compare(path, update_catalogue(tag, sentences), fix=fix)
        faults += list_faults(tag, polib.pofile(str(path)))
    faults += _compare(PAGE, compose_page(sentences), fix=fix)
    return faults


def _compare(path: Path, text: str, *, fix: bool) -> list[str]:
    if fix:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return []
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return []
    return [f"{path.relative_to(ROOT)} is out of date: run `python -m tools.texts`"]


def main() -> int:
    """Update the files, or check them."""
    faults = list_outdated(fix="--check" not in sys.argv[1:])
    print("\n".join(faults) or "The texts are complete.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
