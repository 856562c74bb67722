"""Deeds about conversations and answers."""

import asyncio
import itertools
import json
import re
from collections.abc import Awaitable
from typing import Any

from agent_core.chats import Chat
from agent_core.ids import QuestionId
from agent_core.models.contract import TextDelta
from agent_core.state.conversations import questions
from agent_core.state.conversations.questions import Choice, NewQuestion
from tests.agent_core.skills.skill_folders import write_skill
from tests.fakes.model import Gate, Play, call, say
from tests.fakes.model import ask as ask_for
from tests.integration.interfaces.api_setup import OLGA
from tests.integration.interfaces.console_setup import open_chat
from tests.integration.interfaces.same_deeds.surfaces import Do, Row, Surfaces
from tests.integration.turns.small_window import FILLER

_MESSAGE = "SELECT id, session_id, turn_id FROM messages WHERE role = 'user' AND text = :words"


async def find_message(here: Surfaces, words: str) -> tuple[int, int, int]:
    """Find a message by its words; its number, and those of its session and its turn."""
    look = {"words": words}
    found = await here.wait_for(lambda: here.read(lambda c: c.execute(_MESSAGE, look).fetchone()))
    number, session, turn = found
    return number, session, turn


async def look_at_talk(here: Surfaces, words: str) -> Any:
    """List who said something in the turn of a message."""
    sql = (
        f"SELECT role FROM messages WHERE turn_id IN (SELECT turn_id FROM ({_MESSAGE})) ORDER BY id"
    )
    found = await here.read(lambda c: c.execute(sql, {"words": words}).fetchall())
    return [role for (role,) in found]


async def look_at_session(here: Surfaces, one: str) -> Any:
    """Look whether a session is open, and how it is called."""
    number = one.split()[0]
    sql = "SELECT ended_at IS NULL, title FROM sessions WHERE id = :number"
    return await here.read(lambda c: c.execute(sql, {"number": number}).fetchone())


async def look_at_title(here: Surfaces, one: str) -> Any:
    return (await look_at_session(here, one))[1]


async def look_at_end(here: Surfaces, one: str) -> Any:
    return (await look_at_session(here, one))[0]


async def look_at_copies(here: Surfaces, one: str) -> Any:
    """Count the copies of a session."""
    session = one.split()[0]
    sql = "SELECT COUNT(*) FROM sessions WHERE branched_from = :session"
    return (await here.read(lambda c: c.execute(sql, {"session": session}).fetchone()))[0]


async def look_at_removal(here: Surfaces, number: str) -> Any:
    sql = "SELECT removed_at IS NOT NULL FROM conversations WHERE id = :number"
    return (await here.read(lambda c: c.execute(sql, {"number": number}).fetchone()))[0]


async def look_at_answer(here: Surfaces, number: str) -> Any:
    found = await here.read(questions.find, question_id=QuestionId(int(number)))
    return found.state, found.answer


async def look_at_turn(here: Surfaces, words: str) -> Any:
    _, _, turn = await find_message(here, words)
    sql = "SELECT state FROM turns WHERE id = :turn"
    return (await here.read(lambda c: c.execute(sql, {"turn": turn}).fetchone()))[0]


async def look_at_use(here: Surfaces, name: str) -> Any:
    """Look what became of the one use of a skill."""
    found = await find_use(here, name)
    return found and found[1]


async def find_use(here: Surfaces, name: str) -> Any:
    """The turn that used a skill, and what became of the use."""
    sql = (
        "SELECT turn_id, outcome FROM skill_uses JOIN skills ON skills.id = skill_id"
        " WHERE skills.name = :name"
    )
    return await here.read(lambda c: c.execute(sql, {"name": name}).fetchone())


async def look_at_file(here: Surfaces, name: str) -> Any:
    found = await here.ask("GET", "/files")
    return [one["size"] for one in found["files"] if one["name"] == name]


async def answered(here: Surfaces, do: Do, words: str) -> None:
    """Do something that the model answers."""
    here.setup.model.plays = [say("Hello.")]
    await do(here, words)


async def talk(here: Surfaces, words: str) -> str:
    """Talk a little; the numbers of the session and the message, and the words."""
    here.setup.model.plays = [say("Hello.")]
    await here.chat(words)
    await here.wait_for(lambda: is_answered(here, words))
    number, session, _ = await find_message(here, words)
    return f"{session} {number} {words}"


async def talk_alone(here: Surfaces, words: str) -> str:
    await talk(here, words)
    await here.wait_for(lambda: is_over(here, words))
    return words


async def is_answered(here: Surfaces, words: str) -> bool:
    return await look_at_talk(here, words) == ["user", "assistant"]


async def is_over(here: Surfaces, words: str) -> bool:
    return await look_at_turn(here, words) == "answered"


async def answer_by_skill(here: Surfaces, name: str) -> str:
    """Get an answer for which a new skill was used."""
    write_skill(here.setup.home / "skills", name)
    reading = ask_for(call("skill_view", json.dumps({"name": name})))
    here.setup.model.plays = [reading, say(f"Swept with {name}.")]
    await here.chat(f"sweep with {name}")
    await here.wait_for(lambda: is_used(here, name))
    return name


async def is_used(here: Surfaces, name: str) -> bool:
    return bool(await look_at_use(here, name) == "done")


async def react(here: Surfaces, name: str) -> None:
    here.used.add(("chat", "reaction"))
    message = await here.setup.chat.sees_text(f"Swept with {name}.")
    await here.setup.chat.reacts("👍", message.id, user=OLGA, chat=OLGA)


async def judge_on_page(here: Surfaces, name: str) -> None:
    here.used.add(("page", "chat"))
    turn, _ = await find_use(here, name)
    async with here.page.post("/verdicts", json={"id": turn, "verdict": "good"}) as answer:
        assert answer.status == 200, await answer.text()


async def judge_by_api(here: Surfaces, name: str) -> None:
    turn, _ = await find_use(here, name)
    await here.ask("PUT", f"/turns/{turn}/verdict", {"verdict": "good"})


async def say_thumb(here: Surfaces, words: str) -> None:
    await here.run("chat", given=f"{words}\n")


async def begin_talk(here: Surfaces, words: str) -> str:
    """Talk in a session of its own."""
    await here.post("/new")
    return await talk(here, words)


async def end_talk(here: Surfaces, words: str) -> str:
    """Talk, and begin anew; the number of the session, and that in the list of the chat."""
    session = (await talk(here, words)).split()[0]
    await here.post(f"/chats/{session}/title", title=words)
    await here.post("/new")
    shown, seen = here.setup.chat.shown, await here.chat("/sessions")
    await here.setup.chat.until(lambda: any(words in one.text for one in shown[seen:]))
    text = next(one.text for one in shown[seen:] if words in one.text)
    found = re.search(rf"- (\d+): {words}", text)
    assert found, text
    return f"{session} {found[1]}"


async def copy_talk(here: Surfaces, words: str) -> str:
    """Talk, and copy that; the number of the copy."""
    number = (await talk(here, words)).split()[1]
    async with here.page.post(f"/messages/{number}/fork", data={"key": words}) as answer:
        return answer.url.path.rpartition("/")[2]


async def copy_and_remove(here: Surfaces, words: str) -> str:
    number = await copy_talk(here, words)
    await here.post(f"/conversations/{number}/remove")
    return number


async def fork_by_api(here: Surfaces, one: str) -> None:
    session, message, _ = one.split()
    sql = "SELECT conversation_id FROM sessions WHERE id = :session"
    found = await here.read(lambda c: c.execute(sql, {"session": session}).fetchone())
    await here.ask("POST", f"/conversations/{found[0]}/fork", {"message": int(message)})


async def ask_question(here: Surfaces, name: str) -> str:
    """Ask Olga something in her chat; the number of the question."""
    gateway, olga = here.setup.served.gateway, await here.olga()
    new = NewQuestion(
        person_id=olga.id,
        kind="choice",
        text=f"Tea for {name}?",
        choices=(Choice(key="yes", label=f"Yes {name}"), Choice(key="no", label="No")),
        secret="00000000",
        chat=Chat(platform="fake", address=f'["{OLGA}",null,true]'),
        expires_at=here.now() + 1_000_000,
    )
    seen = here.setup.chat.shown
    rows = await here.write(lambda c: gateway.questions.pose(c, new, here.now()))
    gateway.dispatcher.enqueue(rows)
    await here.setup.chat.until(lambda: any(f"Yes {name}" in one.labels for one in seen))
    found = await here.read(questions.find_open, person_id=olga.id)
    return str(next(one.id for one in found if name in one.text))


async def press_yes(here: Surfaces, number: str) -> None:
    found = await here.read(questions.find, question_id=QuestionId(int(number)))
    await here.press(found.choices[0].label)


async def begin_answer(here: Surfaces, words: str) -> str:
    """Let an answer begin that goes on once its gate is open."""
    return await begin_in(here, OLGA, words, ask_for(call("recall", '{"query": "tea"}')))


async def begin_elsewhere(here: Surfaces, words: str) -> str:
    """Let an answer begin in another chat of Olga's."""
    await begin_in(here, _OTHER_CHAT, words, say("Hello."), "Well, ")
    await here.setup.chat.until(lambda: "Well," in list_elsewhere(here)[-1:])
    return words


async def begin_in(here: Surfaces, chat: str, words: str, play: Play, shown: str = "") -> str:
    gate = here.gates[words] = Gate()
    begun = [TextDelta(text=shown)] if shown else []
    here.setup.model.plays = [(*begun, gate.hold, *play), say("Hello."), say("Hello again.")]
    number = f"begin-{words}"
    await here.setup.chat.says(words, user=OLGA, chat=chat, name="X", id=number)
    await gate.reached.wait()
    return words


async def meanwhile(here: Surfaces, words: str, do: Awaitable[object], seen: Do) -> None:
    """Do something while an answer is in progress, and let that end once it is seen."""
    done = asyncio.ensure_future(do)
    try:
        await here.wait_for(lambda: seen(here, words))
    finally:
        here.gates[words].open.set()
    await done


def interrupt(command: str, seen: Do, left: object) -> Row:
    """Send a command with words of its own while an answer is in progress."""

    def by(send: Do) -> Do:
        return lambda here, words: meanwhile(
            here, words, send(here, f"/{command} more {words}"), seen
        )

    return Row(
        deed=_ANSWERS,
        ready=begin_answer,
        by={
            "chat": by(Surfaces.chat),
            "page": by(Surfaces.write_on_page),
            "terminal": by(lambda here, line: here.run("chat", given=f"{line}\n")),
        },
        look=look_at_turns,
        left=left,
    )


async def waits(here: Surfaces, words: str) -> Any:
    """Look whether a message waits for an answer in progress."""
    look, lanes = {"person_id": (await here.olga()).id}, here.setup.served.gateway.lanes
    sql = "SELECT id FROM conversations WHERE person_id = :person_id"
    found = await here.read(lambda c: c.execute(sql, look).fetchall())
    return any(lanes.count_waiting(number) for (number,) in found)


async def is_answered_aside(here: Surfaces, words: str) -> Any:
    return ("aside", ["more "], "answered") in await look_at_turns(here, words)


async def is_moved(here: Surfaces, words: str) -> Any:
    """Look whether the other chat says that the answer has left it."""
    return "Well," not in list_elsewhere(here)[-1:]


async def move_to_page(here: Surfaces) -> None:
    """Let an answer in progress go on in the chat of the page; it appears there."""
    here.used.add(("page", "chat"))
    async with open_chat(here.page) as line:
        await line.say("/here")
        await line.hear("message")


def list_elsewhere(here: Surfaces) -> list[str]:
    return [one.text for one in here.setup.chat.shown if one.chat_id == _OTHER_CHAT]


async def look_at_turns(here: Surfaces, words: str) -> Any:
    """List the turns about some words: the kind of conversation, what was said, and the end."""
    sql = (
        "SELECT turns.id, conversations.kind, messages.text, turns.state FROM messages"
        " JOIN turns ON turns.id = messages.turn_id"
        " JOIN conversations ON conversations.id = turns.conversation_id"
        " WHERE messages.role = 'user' AND messages.text LIKE '%' || :words ORDER BY messages.id"
    )
    found = await here.read(lambda c: c.execute(sql, {"words": words}).fetchall())
    return sorted(
        (kind, [text.removesuffix(words) for _, _, text, _ in rows], state)
        for (_, kind, state), rows in (
            (key, list(group))
            for key, group in itertools.groupby(found, lambda row: (row[0], row[1], row[3]))
        )
    )


async def look_at_place(here: Surfaces, words: str) -> Any:
    """List whether the answer is for the chat in which it began."""
    _, _, turn = await find_message(here, words)
    sql = "SELECT chat FROM outbox WHERE turn_id = :turn AND body LIKE '%Hello.%'"
    found = await here.read(lambda c: c.execute(sql, {"turn": turn}).fetchall())
    return [_OTHER_CHAT in chat for (chat,) in found]


async def look_at_sent(here: Surfaces, words: str) -> Any:
    """List the chats to which words were sent as a message of their own."""
    sql = "SELECT platform FROM outbox WHERE body = :words"
    found = await here.read(lambda c: c.execute(sql, {"words": words}).fetchall())
    return [platform for (platform,) in found]


async def talk_long(here: Surfaces, words: str) -> str:
    """Talk for so long in a session of its own that a summary is shorter; its number."""
    one = await begin_talk(here, f"{words} begins")
    for number in range(_LONG):
        await talk_alone(here, f"{words} {number}{FILLER * 4}")
    return one.split()[0]


async def look_at_summaries(here: Surfaces, session: str) -> Any:
    """List why a session was shortened, and whether it is shorter now."""
    sql = "SELECT reason, tokens_after < tokens_before FROM compactions WHERE session_id = :session"
    return await here.read(lambda c: c.execute(sql, {"session": session}).fetchall())


async def repeat(here: Surfaces, do: Awaitable[object]) -> None:
    here.setup.model.plays = [say("Hello again.")]
    await do


async def add_on_page(here: Surfaces, name: str) -> None:
    here.used.add(("page", "POST /workspace/add"))
    async with here.page.post(f"/workspace/add?name={name}", data=b"seeds") as answer:
        assert answer.status == 201, await answer.text()


_ANSWERS = "Steer, hold back, repeat or move an answer"
_LONG = 8
"""Messages whose summary is shorter."""
_OTHER_CHAT = f"{OLGA}1"
_TALKS = "Begin a new conversation, return to one, name one"

ROWS = (
    Row(
        deed="Write, and read the answer",
        by={
            "chat": lambda here, words: answered(here, Surfaces.chat, words),
            "page": lambda here, words: answered(here, Surfaces.write_on_page, words),
            "terminal": lambda here, words: answered(
                here, lambda at, one: at.run("chat", given=f"{one}\n"), words
            ),
            "api": lambda here, words: answered(
                here, lambda at, one: at.ask("POST", "/messages", {"text": one}), words
            ),
        },
        look=look_at_talk,
        left=["user", "assistant"],
    ),
    Row(
        deed="Write, and read the answer",
        by={
            "chat": lambda here, words: answered(here, Surfaces.chat, words),
            "page": lambda here, words: answered(
                here, lambda at, one: at.post("/conversations/messages", text=one, key=one), words
            ),
            "terminal": lambda here, words: answered(
                here, lambda at, one: at.run("chat", given=f"{one}\n"), words
            ),
            "api": lambda here, words: answered(
                here, lambda at, one: at.ask("POST", "/messages", {"text": one}), words
            ),
        },
        look=look_at_talk,
        left=["user", "assistant"],
    ),
    Row(
        deed=_TALKS,
        ready=begin_talk,
        by={
            "chat": lambda here, _: here.chat("/new"),
            "page": lambda here, _: here.post("/new"),
            "terminal": lambda here, _: here.run("chat", given="/new\n"),
        },
        look=look_at_end,
        left=0,
    ),
    Row(
        deed=_TALKS,
        ready=end_talk,
        by={
            "chat": lambda here, one: here.chat(f"/resume {one.split()[1]}"),
            "page": lambda here, one: here.post(f"/chats/{one.split()[0]}/go-on"),
            "terminal": lambda here, one: here.run("chat", given=f"/resume {one.split()[1]}\n"),
        },
        look=look_at_end,
        left=1,
    ),
    Row(
        deed=_TALKS,
        ready=begin_talk,
        by={
            "chat": lambda here, _: here.chat("/title Blue"),
            "page": lambda here, one: here.post(f"/chats/{one.split()[0]}/title", title="Blue"),
            "terminal": lambda here, _: here.run("chat", given="/title Blue\n"),
        },
        look=look_at_title,
        left="Blue",
    ),
    Row(
        deed="Try something in a copy of a conversation",
        ready=begin_talk,
        by={
            "chat": lambda here, _: here.chat("/branch"),
            "page": lambda here, one: here.post(f"/messages/{one.split()[1]}/fork", key=one),
            "api": fork_by_api,
        },
        look=look_at_copies,
        left=1,
    ),
    Row(
        deed="Remove such a copy, and bring it back",
        ready=copy_talk,
        by={
            "page": lambda here, number: here.post(f"/conversations/{number}/remove"),
            "api": lambda here, number: here.ask("DELETE", f"/conversations/{number}"),
        },
        look=look_at_removal,
        left=1,
    ),
    Row(
        deed="Remove such a copy, and bring it back",
        ready=copy_and_remove,
        by={
            "page": lambda here, number: here.post(f"/conversations/{number}/restore"),
            "api": lambda here, number: here.ask("POST", f"/conversations/{number}/restore"),
        },
        look=look_at_removal,
        left=0,
    ),
    Row(
        deed="Stop an answer",
        ready=begin_answer,
        by={
            "chat": lambda here, _: here.chat("/stop"),
            "page": lambda here, _: here.write_on_page("/stop"),
            "terminal": lambda here, _: here.run("chat", given="/stop\n"),
        },
        look=look_at_turn,
        left="stopped",
    ),
    Row(
        deed="Answer a question",
        ready=ask_question,
        by={
            "chat": press_yes,
            "page": lambda here, number: here.post(f"/questions/{number}/answer", choice="yes"),
            "api": lambda here, number: here.ask(
                "POST", f"/questions/{number}/answer", {"choice": "yes"}
            ),
        },
        look=look_at_answer,
        left=("answered", "yes"),
    ),
    Row(
        deed="Say whether an answer by a skill was good",
        ready=answer_by_skill,
        by={
            "chat": react,
            "page": judge_on_page,
            "terminal": lambda here, _: answered(here, say_thumb, "👍"),
            "api": judge_by_api,
        },
        look=look_at_use,
        left="liked",
    ),
    Row(
        deed="Look at files of your workspace, add and fetch them",
        by={
            "page": add_on_page,
            "api": lambda here, name: here.send(f"/files?path={name}", b"seeds"),
        },
        look=look_at_file,
        left=[5],
    ),
    interrupt("steer", waits, [("direct", ["", "more "], "answered")]),
    interrupt("queue", waits, [("direct", [""], "answered"), ("direct", ["more "], "answered")]),
    interrupt(
        "btw", is_answered_aside, [("aside", ["more "], "answered"), ("direct", [""], "answered")]
    ),
    Row(
        deed=_ANSWERS,
        ready=talk_alone,
        by={
            "chat": lambda here, _: repeat(here, here.chat("/retry")),
            "page": lambda here, _: repeat(here, here.write_on_page("/retry")),
            "terminal": lambda here, _: repeat(here, here.run("chat", given="/retry\n")),
        },
        look=look_at_turns,
        left=[("direct", [""], "answered"), ("direct", [""], "answered")],
    ),
    Row(
        deed=_ANSWERS,
        ready=begin_elsewhere,
        by={
            "chat": lambda here, words: meanwhile(here, words, here.chat("/here"), is_moved),
            "page": lambda here, words: meanwhile(here, words, move_to_page(here), is_moved),
            "terminal": lambda here, words: meanwhile(
                here, words, here.run("chat", given="/here\n"), is_moved
            ),
        },
        look=look_at_place,
        left=[False],
    ),
    Row(
        deed="Send a message to another chat",
        by={
            "chat": lambda here, words: here.tell("send_message", to="console", text=words),
            "mcp": lambda here, words: here.call("send_message", to="console", text=words),
        },
        look=look_at_sent,
        left=["console"],
    ),
    Row(
        deed="Shorten a long conversation",
        ready=talk_long,
        by={
            "chat": lambda here, _: here.chat("/compact"),
            "page": lambda here, _: here.write_on_page("/compact"),
            "terminal": lambda here, _: here.run("chat", given="/compact\n"),
        },
        look=look_at_summaries,
        left=[("asked", 1)],
    ),
)
