"""The prompt of guided mode: a decision and the talk after it begin with the same bytes; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from agent_core.agent.guided.decisions import Known, make_schema
from agent_core.agent.guided.examples import EXAMPLES, JSON_ENDING, SPOKEN, WORDS_ENDING
from agent_core.agent.guided.transcript import (
    find_start,
    is_listing,
    read_jobs,
)
from agent_core.agent.prompt.compose import split_parts
from agent_core.models.contract import ModelRequest
from agent_core.models.transcript_view import read_clock, read_notes
from agent_core.transcript import Message, TextPart, ToolResultPart

VERSION = 6
"""Part of the shape of each request; grows with every change of the words below."""
_DECISION_TOKENS = 200
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_RULES = """\
You are a person's assistant. A message that ends with "Answer with JSON." is followed by one JSON \
object that says what the message asks for:
- remind_once: a reminder or message at one time. "when": like "tomorrow at 09:00", "friday at \
17:30", "in 20 minutes", "24 december at 18:00".
- remind_every: a reminder or message that comes again and again. "when": like "every day at \
08:00", "every monday at 19:00", "every weekday at 07:30", "every 3 hours", "on day 5 of every \
month at 09:00".
- list_reminders: to see their reminders, or to know when one comes.
- delete_reminder: to end a reminder for good. pause_reminder: to stop it for a while. \
move_reminder: to change its time; "when" may be a time alone, like "at 16:00".
- remember: to keep a fact about them. Whatever comes at a time is a reminder instead.
- correct_memory: a fact that you know is not true any more; "old" is the old fact.
- forget: to forget a fact that you know.
- search_past: a question about their own life, plans or people whose answer you don't know; it \
was perhaps said in an earlier conversation.
- set_language: the language of your answers. set_time_zone: where they are now. set_quiet_hours: \
hours without messages.
- chat: everything else. Questions, stories, jokes, translations, thanks, feelings, advice, and \
what you know already.

Times have 24 hours: "half past eight in the evening" is 20:30, "quarter to four" is 15:45, "halb \
neun" is 08:30, "las cinco de la tarde" is 17:00. The first messages are examples; their facts and \
reminders are made up.
"""
_ACTED, _ASKS = "Done.", ("recall", "ask")
_KNOWN = "The examples are over. This is what you know about this person:\n"
_TASK = "\n\nTask: "
"""Stands in front of the task in the first message to a helper."""
_HELPER_ENDING = "Answer with your part, in words."


def compose_decision(
    request: ModelRequest, known: Known, intents: Mapping[str, Mapping[str, object]]
) -> ModelRequest:
    """Return the request for a forced decision on the newest message."""
    return force_choice(_compose(request, known, JSON_ENDING), intents)


def compose_answer(request: ModelRequest, known: Known, found: str = "") -> ModelRequest:
    """Return the request for an answer in words; `found` is what a search has found."""
    start = find_start(request.messages)
    now = read_clock(request.messages[start]) if start is not None else None
    lines = [f"Now: {_WEEKDAYS[now.weekday()]} {now:%Y-%m-%d %H:%M}."] if now else []
    lines += [f"This was found in earlier conversations:\n{found}\n"] if found else []
    return _compose(request, known, "\n".join([*lines, WORDS_ENDING]))


def compose_helper(
    request: ModelRequest, said: str = "", ending: str = _HELPER_ENDING
) -> ModelRequest:
    """Return the request for the words of a helper: who it is, what it knows, and its order.

    `said` takes the place of the order, and else its task alone: a small model takes "nobody can
    answer questions" for its own answer. The examples are of people's wishes. Without them a slow
    model reads a tenth of the tokens.
    """
    entries = _list_first(request.system)
    known = f"\n\nThis is what you know:\n{_list(entries)}" if entries else ""
    messages, start = list(request.messages), find_start(request.messages)
    if start is not None:
        order = messages[start].text
        messages[start] = _make(messages[start], said or order.partition(_TASK)[2] or order)
    return replace(
        request,
        system=f"{_find_soul(request.system)}{known}",
        tools=(),
        messages=_render(messages, ending),
        tool_choice="",
    )


def force_choice(
    request: ModelRequest, intents: Mapping[str, Mapping[str, object]]
) -> ModelRequest:
    """Return a request whose answer must be one of the intents, as JSON."""
    return replace(
        request,
        response_schema=make_schema(intents),
        max_output_tokens=min(request.max_output_tokens, _DECISION_TOKENS),
    )


def compose_start(request: ModelRequest) -> ModelRequest:
    """Return a request with the beginning that all calls of its conversation share."""
    return replace(
        request,
        system=_compose_system(request.system),
        tools=(),
        messages=_begin(_list_first(request.system)),
    )


def _compose_system(system: str) -> str:
    return f"{_find_soul(system)}\n\n{_RULES}"


def _find_soul(system: str) -> str:
    return split_parts(system)["identity"].partition("\n# Rules\n")[0].strip()


def _list_first(system: str) -> list[str]:
    """Return what is known of the person at the session's start."""
    return [text for texts in read_notes(system, ()).values() for text in texts]


def _begin(entries: Sequence[str]) -> tuple[Message, ...]:
    """Return the examples, and what is known: whatever changes seldom stands in front."""
    decided = [(f"{said}\n\n{JSON_ENDING}", decision.dump()) for said, decision in EXAMPLES]
    talked = [(f"{said}\n\n{WORDS_ENDING}", words) for said, words in SPOKEN]
    examples = [
        turn
        for said, answer in (*decided, *talked)
        for turn in (_say("user", said), _say("assistant", answer))
    ]
    known = _say("user", f"{_KNOWN}{_list(entries)}")
    return (*examples, known, _say("assistant", "Understood."))


def _compose(request: ModelRequest, known: Known, ending: str) -> ModelRequest:
    entries = _list_first(request.system)
    now = [text for _, text in known.entries]
    if now != entries:  # later changes are at the end
        ending = f"What you know now:\n{_list(now)}\n\n{ending}"
    return replace(
        request,
        system=_compose_system(request.system),
        tools=(),
        messages=(*_begin(entries), *_render(request.messages, ending)),
        tool_choice="",
    )


def _list(entries: Sequence[str]) -> str:
    return "\n".join(f"{place}. {text}" for place, text in enumerate(entries, start=1)) or "nothing"


def _render(messages: Sequence[Message], ending: str) -> tuple[Message, ...]:
    """Return the messages in words: calls and their results are left out.

    What code says after an act stands there as one word: a small model repeats such sentences.
    """
    start = find_start(messages)
    has_acted = False
    rendered: list[Message] = []
    for place, message in enumerate(messages):
        if message.role == "user" and (message.text.strip() or message.images):
            has_acted = False
            words = _show(message, messages[place + 1 :])
            rendered.append(_make(message, f"{words}\n\n{ending}" if place == start else words))
        elif message.role == "assistant" and message.text.strip() and not message.calls:
            rendered.append(_say("assistant", _ACTED if has_acted else message.text))
        has_acted |= any(not is_listing(one) and one.name not in _ASKS for one in message.calls)
    return tuple(rendered)


def _say(role: Literal["user", "assistant"], text: str) -> Message:
    return Message(role=role, parts=(TextPart(text=text),))


def _make(message: Message, text: str) -> Message:
    others = tuple(part for part in message.parts if not isinstance(part, TextPart))
    return Message(role="user", parts=(TextPart(text=text), *others))


def _show(message: Message, following: Sequence[Message]) -> str:
    jobs = read_jobs(_find_list(following))
    listed = "; ".join(f"{number} {title}" for number, title in jobs.items())
    return f"Reminders: {listed}.\nMessage: {message.text}" if jobs else f"Message: {message.text}"


def _find_list(following: Sequence[Message]) -> str:
    """Return the list of jobs that was read for a message, as the tool wrote it."""
    wanted = ""
    for message in following:
        if message.role == "user" and message.text.strip():
            return ""
        for part in message.parts:
            if isinstance(part, ToolResultPart) and part.call_id == wanted:
                return part.text
        wanted = next((call.call_id for call in message.calls if is_listing(call)), wanted)
    return ""
