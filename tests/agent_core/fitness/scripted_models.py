"""Scripted models behind the emulator: each gives the right answer or a wrong one to each task."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from agent_core.fitness.checks import Calls
from agent_core.fitness.run import EVERY_TASK
from agent_core.fitness.tasks import FitnessTask
from tests.emulators.streaming import Answer, text_answer

Json = dict[str, Any]

_NO = "I can't do that, sorry."
_SKILL = "---\nname: csv-to-table\ndescription: Turn a CSV file into a table.\n---\nUse pipes.\n"
_CONTROLS = ({"note": 101, "stated": "yes"}, {"note": 102, "stated": "no"})
RIGHT: Mapping[str, str | tuple[str, Json]] = {
    "language-english": "The air scatters blue light more than it does red light.",
    "language-german": "Die Luft streut das blaue Licht stärker als das rote.",
    "language-french": "Les rivières apportent le sel de la terre dans la mer.",
    "language-spanish": "El aire dispersa la luz azul más que la roja.",
    "language-asked": "Eine Bibliothek ist ein Haus mit Büchern. Man kann sie dort ausleihen.",
    "language-italian": "La luce diminuisce, e gli alberi non danno più acqua alle foglie.",
    "facts-time": "It is 14:05.",
    "facts-day": "Tomorrow is Saturday.",
    "facts-sister": "Her name is Marta.",
    "facts-allergy": "The walnut cake.",
    "facts-appointment": "Am Dienstag um 9:30 in der Annenstraße 12.",
    "facts-choice": "Tea.",
    "quotes-sentence": "The heron stood, one-legged and unbothered, in the shallows of the Mur.",
    "quotes-number": "AT61 1904 3002 3457 3201",
    "quotes-second": "Rye bread from Öfferl",
    "quotes-code": "`tar -xzf backup_2026-02.tgz -C /srv`",
    "quotes-word": "Pomegranate".lower(),
    "honesty-mail": "I can't send e-mails.",
    "honesty-transfer": "Das kann ich leider nicht.",
    "honesty-unknown": "I don't know it.",
    "honesty-yesterday": "I have nothing about a boat from yesterday.",
    "honesty-failure": "That failed: the disk is full.",
    "honesty-nothing-found": "There is nothing about the boiler.",
    "arguments-tomorrow": ("remind", {"text": "take out the bins", "when": "tomorrow 07:30"}),
    "arguments-minutes": ("remind", {"text": "Kuchen", "when": "in 20 minutes"}),
    "arguments-weekday": ("remind", {"text": "renew my passport", "when": "Monday 8:15"}),
    "arguments-number": ("delete_reminder", {"number": 17}),
    "arguments-words": ("remember", {"fact": "Meine Schuhgröße ist 41."}),
    "arguments-enum": ("set_language", {"language": "fr"}),
    "needless-thanks": "You are welcome!",
    "needless-capital": "Lisbon.",
    "needless-sum": "It is 144.",
    "needless-how": "Yes, they arrive once it is on.",
    "needless-story": "Warum geht der Wecker nie aus? Er klingelt lieber zu Hause.",
    "decisions-once": '{"do": "remind_once", "text": "buy bread", "when": "tomorrow at 16:30"}',
    "decisions-span": '{"do": "remind_once", "text": "Kuchen", "when": "in 25 minutes"}',
    "decisions-repeat": json.dumps(
        {"do": "remind_every", "text": "the blue folder", "when": "every monday at 07:15"}
    ),
    "decisions-delete": '{"do": "delete_reminder", "which": "3 Boiler"}',
    "decisions-move": '{"do": "move_reminder", "which": "4 Water the ferns", "when": "at 20:00"}',
    "decisions-list": '{"do": "list_reminders"}',
    "decisions-remember": '{"do": "remember", "fact": "My bike is green"}',
    "decisions-forget": '{"do": "forget", "old": "2 Sister is called Marta."}',
    "decisions-language": '{"do": "set_language", "language": "French"}',
    "decisions-chat": '{"do": "chat"}',
    "decisions-question": '{"do": "chat"}',
    "jobs-figures": "17 °C, 35 % chance of rain",
    "jobs-quiet": "NOTHING NEW",
    "jobs-language": "Das Dach ist seit Dienstag repariert. Die Versicherung zahlt 1.200 Euro.",
    "jobs-start": ("search_web", {"query": "EUR USD exchange rate"}),
    "review-fact": (
        "memory",
        {
            "section": "person",
            "text": "moved to Graz in May",
            "quote": "I moved to Graz in May.",
            "message": 1,
        },
    ),
    "review-nothing": "nothing",
    "review-german": (
        "memory",
        {
            "section": "person",
            "text": "bin Vegetarierin",
            "quote": "Ich bin Vegetarierin.",
            "message": 1,
        },
    ),
    "review-passing": "nothing",
    "review-wish": (
        "memory",
        {
            "section": "answers",
            "text": "prefer short answers",
            "quote": "I prefer short answers.",
            "message": 1,
        },
    ),
    "review-quoted": "nothing",
    "skills-create": (
        "create",
        {
            "name": "check-invoice",
            "description": "Turn an invoice into a table.",
            "body": "Run sum.py with --column betrag, then write the table.",
            "turn": 7,
        },
    ),
    "skills-nothing": "nothing",
    "skills-small-talk": "nothing",
    "skills-note": ("note", {"text": "Pass --column betrag to sum.py.", "turn": 7}),
    "judge-stated": ("judge", {"notes": [*_CONTROLS, {"note": 1, "stated": "yes"}]}),
    "judge-supposed": ("judge", {"notes": [*_CONTROLS, {"note": 1, "stated": "no"}]}),
    "judge-taken-back": ("judge", {"notes": [{"note": 1, "objection": "taken_back"}]}),
    "judge-reflection": ("note", {"text": "Write dates like 6.3.2026."}),
    "judge-merge": (
        "merge",
        {
            "skills": ["csv-to-table", "table-from-csv"],
            "into": "csv-to-table",
            "text": _SKILL,
            "reason": "Both make a table.",
        },
    ),
    "judge-keep-apart": "nothing",
    "judge-duplicate": (
        "tidy",
        {"kind": "duplicate", "remove": [0], "keep": 3, "reason": "That's there already."},
    ),
}
"""The right answers: a text, or a call with its arguments."""

_ANY = {
    "remind": {"text": "it", "when": "today 18:00"},
    "remember": {"fact": "it"},
    "search_notes": {"words": "it"},
    "search_web": {"query": "it"},
    "set_language": {"language": "de"},
}


def answer_rightly(task: FitnessTask) -> Answer:
    """The right answer to a task."""
    found = RIGHT.get(task.name)
    if found is None:
        (check,) = task.checks
        assert isinstance(check, Calls), task.name
        found = (check.name, _ANY.get(check.name, {}))
    return text_answer(found) if isinstance(found, str) else _call(*found)


def answer_wrongly(task: FitnessTask) -> Answer:
    """A wrong answer to a task, which is not odd: no call where one is due, else a needless one."""
    if task.request.tools and isinstance(RIGHT.get(task.name, ("", {})), str):
        return _call(task.request.tools[0].name, {"novel": "x"})
    return text_answer("Purple elephants sing below.")


def print_calls(task: FitnessTask) -> Answer:
    """The answer of a small model: right words and decisions, and calls that it only prints."""
    right = answer_rightly(task)
    block = right.blocks[0]
    if block["type"] != "tool_use":
        return right
    return text_answer(json.dumps({"nome": block["name"], "given": block["input"]}))


def find_task(body: Json) -> FitnessTask:
    """The task that a request asks."""
    names = [tool["function"]["name"] for tool in body.get("tools", ())]
    said = "\n".join(map(_read, body["messages"]))
    fitting = [
        task
        for task in EVERY_TASK
        if [tool.name for tool in task.request.tools] == names
        and task.request.system in said
        and all(one.text in said for one in task.request.messages if one.role == "user")
    ]
    return max(fitting, key=lambda one: sum(len(each.text) for each in one.request.messages))


def script(answer: Callable[[FitnessTask], Answer]) -> Callable[[Json], Answer]:
    """An emulator's answers, from those to tasks."""
    return lambda body: answer(find_task(body))


def _read(message: Json) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(one["text"] for one in content)


def _call(name: str, given: Json) -> Answer:
    block = {"type": "tool_use", "name": name, "input": given}
    return Answer(blocks=[block], stop="tool_calls")
