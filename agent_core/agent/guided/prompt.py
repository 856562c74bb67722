"""The prompt of guided mode: a decision and the talk after it begin with the same bytes; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent_core.agent.guided.decisions import Known, make_schema
from agent_core.agent.guided.transcript import (
    find_start,
    is_listing,
    read_jobs,
)
from agent_core.agent.prompt.compose import split_parts
from agent_core.models.contract import ModelRequest
from agent_core.models.transcript_view import read_clock, read_notes
from agent_core.transcript import Message, TextPart, ToolResultPart

VERSION = 2
"""Part of the shape of each request; grows with every change of the words below."""
_DECISION_TOKENS = 200
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DECIDE = "Decision as JSON:"
_ANSWER = (
    "Now answer the message itself, in its language, in plain words and a few sentences. Nothing"
    " was set, saved or changed: don't say that it was."
)
_ANSWER_FROM = (
    "Now answer the message itself, in its language, in a few sentences, from what was found in"
    " earlier conversations:\n{found}"
)
_RULES = """\
You are a person's assistant. First decide what the last message asks for, as one JSON object.

What a message can ask for:
- remind_once: a reminder or message at one time. "when": like "tomorrow at 09:00", "friday at \
17:30", "in 20 minutes", "24 december at 18:00".
- remind_every: a reminder or message that comes again and again. "when": like "every day at \
08:00", "every monday at 19:00", "every weekday at 07:30", "every 3 hours", "on day 5 of every \
month at 09:00".
- list_reminders: to see their reminders, or to know when one comes.
- delete_reminder: to end a reminder for good. pause_reminder: to stop it for a while. \
move_reminder: to change its time; "when" may be a time alone, like "at 16:00".
- remember: to keep a fact about them.
- correct_memory: a fact that you know is not true any more; "old" is the old fact.
- forget: to forget a fact that you know.
- search_past: a question about their own life, plans or people whose answer you don't know; it \
was perhaps said in an earlier conversation.
- set_language: the language of your answers. set_time_zone: where they live now. set_quiet_hours: \
hours without messages.
- chat: everything else. Questions, stories, jokes, translations, thanks, feelings, advice, and \
what you know already.

Times have 24 hours: "half past eight in the evening" is 20:30, "quarter to four" is 15:45, "halb \
neun" is 08:30, "las cinco de la tarde" is 17:00.

Examples (their facts and reminders are made up):
Message: Remind me on Monday at 2 pm to pay the gas bill.
{"do": "remind_once", "text": "pay the gas bill", "when": "monday at 14:00"}
Message: I must feed the cat in half an hour, tell me.
{"do": "remind_once", "text": "feed the cat", "when": "in 30 minutes"}
Message: Sag mir übermorgen um halb neun, dass ich zum Amt muss.
{"do": "remind_once", "text": "zum Amt gehen", "when": "the day after tomorrow at 08:30"}
Message: Every Saturday at 10 text me: clean the kitchen
{"do": "remind_every", "text": "clean the kitchen", "when": "every saturday at 10:00"}
Message: Am Dritten jedes Monats um 9: Zähler ablesen
{"do": "remind_every", "text": "Zähler ablesen", "when": "on day 3 of every month at 09:00"}
Message: Recuérdame cada noche a las 22:00 cerrar la puerta.
{"do": "remind_every", "text": "cerrar la puerta", "when": "every day at 22:00"}
Message: What have you got planned for me?
{"do": "list_reminders"}
Message: I don't need the gym reminder any longer.
{"do": "delete_reminder", "which": "7 Gym"}
Message: Mach mit dem Sport Pause, bis ich mich melde.
{"do": "pause_reminder", "which": "7 Gym"}
Message: The gym one should come an hour later, at 5 pm.
{"do": "move_reminder", "which": "7 Gym", "when": "at 17:00"}
Message: You should know that I'm afraid of dogs.
{"do": "remember", "fact": "I'm afraid of dogs."}
Message: Schreib auf: Der Schlüssel liegt unter der Matte.
{"do": "remember", "fact": "Der Schlüssel liegt unter der Matte."}
Message: I have a new job, I'm a baker now and no teacher any more.
{"do": "correct_memory", "fact": "Works as a baker.", "old": "2 Works as a teacher."}
Message: Ya no digas que me gusta el fútbol.
{"do": "forget", "old": "1 Likes football."}
Message: What did we say about the garden fence?
{"do": "search_past", "words": "garden fence"}
Message: Where did my aunt want to travel?
{"do": "search_past", "words": "aunt travel"}
Message: Wann wollte der Klempner kommen?
{"do": "search_past", "words": "Klempner"}
Message: From now on answer in Italian.
{"do": "set_language", "language": "Italian"}
Message: I live in Sydney now, use the time there.
{"do": "set_time_zone", "city": "Sydney"}
Message: Let me sleep from 11 pm to 6 am.
{"do": "set_quiet_hours", "hours": "23:00-06:00"}
Message: How do I get better at chess?
{"do": "chat"}
Message: Ich hatte so einen langen Tag.
{"do": "chat"}
Message: What is "danke" in Finnish?
{"do": "chat"}
Message: My bus leaves at ten.
{"do": "chat"}
"""
_KNOWN = "\nWhat you know about this person:\n"


def compose_decision(
    request: ModelRequest, known: Known, intents: Mapping[str, Mapping[str, object]]
) -> ModelRequest:
    """Return the request for a forced decision on the newest message."""
    return replace(
        _compose(request, known, _DECIDE),
        response_schema=make_schema(intents),
        max_output_tokens=min(request.max_output_tokens, _DECISION_TOKENS),
    )


def compose_answer(request: ModelRequest, known: Known, found: str = "") -> ModelRequest:
    """Return the request for an answer in words; `found` is what a search has found."""
    return _compose(request, known, _ANSWER_FROM.format(found=found) if found else _ANSWER)


def compose_start(request: ModelRequest) -> ModelRequest:
    """Return a request with the beginning that all calls of its conversation share."""
    entries = [text for texts in read_notes(request.system, ()).values() for text in texts]
    return replace(request, system=_compose_system(request.system, entries), tools=())


def _compose_system(system: str, entries: Sequence[str]) -> str:
    soul = split_parts(system)["identity"].partition("\n# Rules\n")[0].strip()
    return f"{soul}\n\n{_RULES}{_KNOWN}{_list(entries)}"


def _compose(request: ModelRequest, known: Known, ending: str) -> ModelRequest:
    # What is known at the session's start stands in front; later changes are at the end.
    entries = [text for texts in read_notes(request.system, ()).values() for text in texts]
    now = [text for _, text in known.entries]
    if now != entries:
        ending = f"What you know now:\n{_list(now)}\n\n{ending}"
    return replace(
        request,
        system=_compose_system(request.system, entries),
        tools=(),
        messages=_render(request.messages, ending),
        tool_choice="",
    )


def _list(entries: Sequence[str]) -> str:
    return "\n".join(f"{place}. {text}" for place, text in enumerate(entries, start=1)) or "nothing"


def _render(messages: Sequence[Message], ending: str) -> tuple[Message, ...]:
    """Return the messages in words: calls and their results are left out."""
    start = find_start(messages)
    rendered: list[Message] = []
    for place, message in enumerate(messages):
        if message.role == "user" and (message.text.strip() or message.images):
            words = _show(message, messages[place + 1 :])
            rendered.append(_make(message, f"{words}\n\n{ending}" if place == start else words))
        elif message.role == "assistant" and message.text.strip() and not message.calls:
            rendered.append(Message(role="assistant", parts=(TextPart(text=message.text),)))
    return tuple(rendered)


def _make(message: Message, text: str) -> Message:
    others = tuple(part for part in message.parts if not isinstance(part, TextPart))
    return Message(role="user", parts=(TextPart(text=text), *others))


def _show(message: Message, following: Sequence[Message]) -> str:
    now = read_clock(message)
    lines = [f"Now: {_WEEKDAYS[now.weekday()]} {now:%Y-%m-%d %H:%M}."] if now else []
    jobs = read_jobs(_find_list(following))
    if jobs:
        listed = "; ".join(f"{number} {title}" for number, title in jobs.items())
        lines.append(f"Reminders: {listed}.")
    return "\n".join([*lines, f"Message: {message.text}"])


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
