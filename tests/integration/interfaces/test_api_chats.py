"""The chats of a program that sends the whole history with each request."""

import asyncio
from typing import Any

import pytest

from agent_core.state.conversations import transcripts
from tests.fakes.model import say
from tests.integration.interfaces.api_setup import Setup, find_named, read

History = list[dict[str, str]]


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def answer(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


async def ask(setup: Setup, history: History, key: str = "", **headers: str) -> str:
    body = {"model": "talaria", "messages": history}
    status, done = await setup.post("chat/completions", key or setup.olga, body, **headers)
    assert status == 200, done
    return str(done["choices"][0]["message"]["content"])


def shown(setup: Setup, number: int = -1) -> str:
    """What the model has read in a request."""
    return repr(setup.model.requests[number].messages)


async def talk(setup: Setup, *words: str, **headers: str) -> History:
    """A chat as a program keeps it; each answer names its question."""
    history: History = []
    for word in words:
        setup.model.plays.append(say(f"About {word}."))
        history.append(user(word))
        history.append(answer(await ask(setup, history, **headers)))
    return history


async def test_chats_with_different_histories_never_mix(setup: Setup) -> None:
    tea = await talk(setup, "hello", "canary tea")
    coffee = await talk(setup, "hello", "canary coffee")
    for history, own, foreign in ((tea, "tea", "coffee"), (coffee, "coffee", "tea")):
        setup.model.plays.append(say("Go on."))
        await ask(setup, [*history, user("and now?")])
        assert f"canary {own}" in shown(setup)
        assert f"canary {foreign}" not in shown(setup)
        assert "by the program's own record" not in shown(setup), "it is the real transcript"


async def test_equal_first_messages_at_once_are_two_chats(setup: Setup) -> None:
    setup.model.plays = [say("One."), say("Two.")]
    found = await asyncio.gather(*(ask(setup, [user("hello")]) for _ in range(2)))
    assert sorted(found) == ["One.", "Two."]
    assert shown(setup, 1).count("hello") == 1


async def test_a_regenerated_answer_replaces_the_first(setup: Setup) -> None:
    history = await talk(setup, "one", "two")
    setup.model.plays.append(say("Another."))
    assert await ask(setup, history[:-1]) == "Another."
    assert shown(setup).count("'two'") + shown(setup).count('"two"') == 1
    assert "About two." not in shown(setup)
    setup.model.plays.append(say("Further."))
    await ask(setup, [*history[:-1], answer("Another."), user("three")])
    assert "Another." in shown(setup)
    assert "About two." not in shown(setup)


async def test_an_edited_message_leaves_out_what_followed(setup: Setup) -> None:
    history = await talk(setup, "one", "two", "three")
    setup.model.plays.append(say("Edited."))
    await ask(setup, [*history[:2], user("zwei")])
    assert "About one." in shown(setup)
    assert "About two." not in shown(setup)
    setup.model.plays.append(say("As before."))
    await ask(setup, [*history, user("four")])
    assert "About three." in shown(setup)
    assert "zwei" not in shown(setup)


async def test_an_unknown_history_begins_a_new_chat_with_it(setup: Setup) -> None:
    setup.model.plays = [say("Hello again."), say("Blue.")]
    begun = [{"role": "system", "content": "Be brief."}, user("I like blue"), answer("Noted.")]
    first = [*begun, user("go on")]
    await ask(setup, first)
    assert "user: I like blue" in shown(setup)
    assert "The program asks you to keep to these rules" in shown(setup)
    assert "| Be brief." in shown(setup)
    await ask(setup, [*first, answer("Hello again."), user("which?")])
    assert shown(setup).count("I like blue") == 1


async def test_another_persons_same_history_finds_nothing(setup: Setup) -> None:
    history = await talk(setup, "canary of Olga")
    setup.model.plays = [say("Hm.")]
    await ask(setup, [user("canary of Olga"), *history[1:], user("more")], key=setup.zebrana)
    assert "by the program" in shown(setup)


@pytest.mark.parametrize("how", ["header", "metadata"])
async def test_a_programs_own_ids_keep_equal_chats_apart(setup: Setup, how: str) -> None:
    """Both chats hold the same words and got the same answers."""

    async def go(chat: str, history: History) -> str:
        body: dict[str, Any] = {"model": "talaria", "messages": history}
        headers = {}
        if how == "header":
            headers["X-OpenWebUI-Chat-Id"] = chat
        else:
            body["metadata"] = {"chat_id": chat, "session_id": 7}
        status, done = await setup.post("chat/completions", setup.olga, body, **headers)
        assert status == 200, done
        return str(done["choices"][0]["message"]["content"])

    setup.model.plays = [say("Hi."), say("Hi."), say("A."), say("B.")]
    for chat in ("a", "b"):
        assert await go(chat, [user("hello")]) == "Hi."
    for chat, canary in (("a", "canary 1"), ("b", "canary 2")):
        await go(chat, [user("hello"), answer("Hi."), user(canary)])
        assert canary in shown(setup)
    assert "canary 1" not in shown(setup)


async def test_a_librarys_retry_is_one_turn(setup: Setup) -> None:
    history = await talk(setup, "one")
    setup.model.plays = [say("Once.")]
    asked = [*history, user("two")]
    assert await ask(setup, asked, **{"X-Stainless-Retry-Count": "0"}) == "Once."
    for count in ("1", "2"):
        assert await ask(setup, asked, **{"X-Stainless-Retry-Count": count}) == "Once."
    assert len(setup.model.requests) == 2


async def test_a_retry_joins_a_forked_chat_and_a_new_one(setup: Setup) -> None:
    history = await talk(setup, "one", "two")
    for asked in (history[:-1], [answer("Unknown."), user("new")]):
        setup.model.plays = [say("Once.")]
        count = len(setup.model.requests)
        for number in range(3):
            headers = {"X-Stainless-Retry-Count": str(number)}
            assert await ask(setup, asked, **headers) == "Once."
        assert len(setup.model.requests) == count + 1


async def test_a_key_joins_although_the_chat_has_gone_on(setup: Setup) -> None:
    history = await talk(setup, "one")
    setup.model.plays = [say("Once.")]
    for _ in range(3):
        assert await ask(setup, [*history, user("two")], **{"Idempotency-Key": "k"}) == "Once."
    assert len(setup.model.requests) == 2


HOUSEKEEPING_WORDS = (
    (
        "### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history."
        "\n### Output:\nJSON\n### Chat History:\n<chat_history>\nUSER: canary\n</chat_history>"
    ),
    (
        "### Task:\nGenerate 1-3 broad tags categorizing the main themes of the chat history\n"
        "<chat_history>\nUSER: canary\n</chat_history>"
    ),
    (
        "Provide a concise, 5-word-or-less title for the conversation, using title case"
        " conventions. Only return the title itself.\n\nConversation:\nUser: canary"
    ),
)


@pytest.mark.parametrize("words", HOUSEKEEPING_WORDS)
async def test_housekeeping_is_answered_and_kept_out_of_memory(setup: Setup, words: str) -> None:
    history = await talk(setup, "hello", **{"X-OpenWebUI-Chat-Id": "c"})
    setup.model.plays = [say("A title."), say("Still here.")]
    assert await ask(setup, [user(words)], **{"X-OpenWebUI-Chat-Id": "c"}) == "A title."
    await ask(setup, [*history, user("go on")], **{"X-OpenWebUI-Chat-Id": "c"})
    assert ("About hello." in shown(setup), "canary" in shown(setup)) == (True, False)
    olga = await find_named(setup, "olga")
    listed = await setup.served.gateway.database.read(
        transcripts.list_conversations, person_id=olga.id, before=2**40, limit=50
    )
    assert "housekeeping" not in {one.kind for one in listed}
    status, found, _ = await read(setup, setup.olga, "/api/recall?query=canary")
    assert (status, "canary" in found) == (200, False)


@pytest.mark.parametrize(
    "words",
    [
        "### Task:\nRespond to the user query using the provided context.\n<context>x</context>",
        "Write a title page for my thesis about chat programs",
        "Please suggest a name for my cat",
    ],
)
async def test_what_only_looks_like_housekeeping_is_remembered(setup: Setup, words: str) -> None:
    setup.model.plays = [say("Yes.")]
    await ask(setup, [user(f"{words} canary")])
    _, found, _ = await read(setup, setup.olga, "/api/recall?query=canary")
    assert "canary" in found


async def respond(setup: Setup, key: str = "", **fields: object) -> tuple[int, Any]:
    return await setup.post("responses", key or setup.olga, {"model": "talaria", **fields})


async def test_a_response_is_continued_and_branched(setup: Setup) -> None:
    setup.model.plays = [say("First."), say("Second."), say("Other."), say("Third.")]
    _, first = await respond(setup, input="one")
    _, second = await respond(setup, input="two", previous_response_id=first["id"])
    await respond(setup, input="zwei", previous_response_id=first["id"])
    assert "First." in shown(setup)
    assert "Second." not in shown(setup)
    await respond(setup, input="three", previous_response_id=second["id"])
    assert "Second." in shown(setup)
    assert "zwei" not in shown(setup)
    wrong = ((setup.zebrana, first["id"]), (setup.olga, "resp_nothing"), (setup.olga, "x" * 500))
    for key, response in wrong:
        status, told = await respond(setup, key, input="go on", previous_response_id=response)
        assert (status, told["error"]["code"]) == (404, "previous_response_not_found")
    assert len(setup.model.requests) == 4


async def test_a_named_conversation_of_a_response(setup: Setup) -> None:
    setup.model.plays = [say("First."), say("Second.")]
    await respond(setup, input="canary", conversation="trip", instructions="Be brief.")
    assert "Be brief." in shown(setup)
    await respond(setup, input="go on", conversation={"id": "trip"})
    assert "canary" in shown(setup)
