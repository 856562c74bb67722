"""What servers ask of the person of a call: forms and links, but never secrets."""

import asyncio

import pytest

from agent_core.tools.mcp.calls import CallHooks, RunningCall
from agent_core.tools.mcp.forms import Form, FormAnswer, FormRefused, PageLink, read_form, read_link
from tests.agent_core.tools.mcp.conftest import Open, call, python_server

TEXT = {"type": "string"}


@pytest.mark.parametrize("name", ["password", "api_key", "cardNumber", "access-token", "PIN"])
def test_a_secret_is_never_asked_for(name: str) -> None:
    with pytest.raises(FormRefused, match="secret"):
        read_form("web", "Hello", {"properties": {name: TEXT}})


def test_a_secret_is_known_by_its_title_too() -> None:
    with pytest.raises(FormRefused, match="secret"):
        read_form("web", "Hello", {"properties": {"x": {**TEXT, "title": "Your passphrase"}}})


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/",
        "https://ada@example.org/",
        "https://пример.рф/",
        "javascript:alert(1)",
        "https://[broken",
        "https://example.org/a b",
    ],
)
def test_only_a_plain_address_is_shown(url: str) -> None:
    with pytest.raises(FormRefused, match="plain https address"):
        read_link("web", "Pay", url)


def test_fields_are_read_by_their_kinds() -> None:
    properties = {
        "name": {**TEXT, "title": "Your name"},
        "age": {"type": "integer", "default": 30},
        "size": {"type": "number"},
        "colour": {**TEXT, "enum": ["r", "g"], "enumNames": ["Red", "Green"]},
        "shade": {**TEXT, "oneOf": [{"const": "d", "title": "Dark"}]},
        "sure": {"type": "boolean"},
    }
    form = read_form("web", "Hi", {"properties": properties, "required": ["name"]})
    found = {one.name: one for one in form.fields}
    assert (found["name"].label, found["name"].is_required) == ("Your name", True)
    assert (found["age"].default, found["age"].read(" 31 ")) == (30, 31)
    assert found["size"].read("1,5") == 1.5
    assert [one.label for one in found["colour"].options] == ["Red", "Green"]
    assert [one.value for one in found["shade"].options] == ["d"]
    assert [one.value for one in found["sure"].options] == [True, False]


def test_what_a_chat_can_not_give_is_left_out_or_declined() -> None:
    properties = {"name": TEXT, "tags": {"type": "array", "items": TEXT}}
    form = read_form("web", "Hi", {"properties": properties, "required": ["name"]})
    assert [one.name for one in form.fields] == ["name"]
    with pytest.raises(FormRefused, match="a chat can't give"):
        read_form("web", "Hi", {"properties": properties, "required": ["tags"]})


@pytest.mark.process
@pytest.mark.slow
async def test_a_person_fills_in_a_form_and_lends_no_model(open_server: Open) -> None:
    asked: list[Form | PageLink] = []
    notes: list[str] = []

    async def ask(question: Form | PageLink, number: int) -> FormAnswer:
        asked.append(question)
        return FormAnswer(action="accept", content={"city": "Oslo", "nights": 3})

    async with open_server(python_server()) as session:
        outcome = await call(session, "book", {}, CallHooks(ask=ask))
        assert "city='Oslo', nights=3" in outcome.text
        assert isinstance(asked[0], Form)
        assert asked[0].server == "python"
        declined = await call(session, "book", {})
        assert declined.text == "decline None"
        assert (await call(session, "log_in", {}, CallHooks(ask=ask))).text == "decline"
        assert len(asked) == 1
        lent = await call(session, "think", {})
        assert lent.is_error
        assert "sampling" in lent.text.lower()
        await call(session, "count", {"to": 3}, CallHooks(note=notes.append))
        assert notes[-1] == "3/3 sheep"


async def test_the_time_of_a_call_stands_still_while_a_person_is_asked() -> None:
    answered = asyncio.Event()

    async def ask(question: Form | PageLink, number: int) -> FormAnswer:
        await answered.wait()
        return FormAnswer(action="decline")

    running = RunningCall(CallHooks(ask=ask), 0.05)
    asking = asyncio.create_task(running.ask(Form(server="s", message="", fields=())))
    forever = asyncio.get_running_loop().create_future()
    waiting = asyncio.create_task(running.wait(forever))
    done, _ = await asyncio.wait((waiting,), timeout=0.2)
    assert not done
    answered.set()
    assert (await asking).action == "decline"
    await waiting


async def test_a_server_can_not_ask_for_ever() -> None:
    async def ask(question: Form | PageLink, number: int) -> FormAnswer:
        return FormAnswer(action="accept")

    running = RunningCall(CallHooks(ask=ask), 5)
    form = Form(server="s", message="", fields=())
    actions = [(await running.ask(form)).action for _ in range(12)]
    assert actions.count("accept") == 10
