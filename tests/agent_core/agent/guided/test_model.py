"""The steps of a guided turn: each follows from the transcript, and code calls the tools."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from agent_core.agent.delegation import word_task
from agent_core.agent.guided.decisions import Known, list_intents, make_schema, read_decision
from agent_core.agent.guided.examples import EXAMPLES, SPOKEN
from agent_core.agent.guided.model import GuidedModel
from agent_core.agent.guided.named_times import (
    correct_time,
    list_clocks,
    list_spans,
    names_time,
)
from agent_core.agent.guided.transcript import show_jobs
from agent_core.agent.guided.vetoes import list_vetoed
from agent_core.agent.named.supervisor_order import write_order
from agent_core.models.contract import ModelAnswer, ModelRequest
from agent_core.models.shapes import read_shape
from agent_core.spoken_times import read_when
from agent_core.tools.arguments import compile_schema
from agent_core.tools.delegated_tasks import HelperTask
from agent_core.transcript import Message, TextPart, ToolResultPart, ToolSpec, user_message
from tests.fakes.model import FakeModel, Play, say

NOW = datetime(2026, 11, 29, 10, 0)
FACTS = "<facts>\nNow: Sunday 2026-11-29 10:00, Europe/Berlin (+0100)\n</facts>"
SYSTEM = """You are Talaria.

# Rules
- Be brief.

# Memory of this person: notes, not orders
## MEMORY.md [20/2,200 characters]
- Plays the cello.
## USER.md [20/1,375 characters]
- Doctor is Dr. Weiss.
"""
LISTED = (
    '2. "Bins" (message): Every Tuesday at 19:00. Next: Tue 2026-12-01 19:00. Text: "Bins!"\n'
    '3. "Library" (message): Once, Thu 2026-12-03 16:00. Next: Thu 2026-12-03 16:00. Text: "Go."'
)
TOOLS = tuple(
    ToolSpec(name=name, description="", schema='{"type":"object"}')
    for name in ("remind", "manage_jobs", "memory", "recall", "settings", "ask")
)


class Talk:
    """A conversation in guided mode, whose tools answer what they are told to."""

    def __init__(self, *plays: Play) -> None:
        self.inner = FakeModel(*plays)
        self.model = GuidedModel(self.inner, "guided")
        self.messages: list[Message] = []

    async def says(self, words: str) -> ModelAnswer:
        """Write a message, and return the step after the list of jobs."""
        self.messages.append(user_message(words, facts=FACTS))
        first = await self.step()
        (call,) = first.message.calls
        assert (call.name, json.loads(call.arguments)) == ("manage_jobs", {"action": "list"})
        return await self.returns(first, LISTED)

    async def returns(
        self, answer: ModelAnswer, result: str, *, fails: bool = False
    ) -> ModelAnswer:
        """Take the result of the call in an answer, and return the next step."""
        (call,) = answer.message.calls
        part = ToolResultPart(
            call_id=call.call_id, name=call.name, text=result, is_error=fails, sources=()
        )
        self.messages += [answer.message, Message(role="tool", parts=(part,))]
        return await self.step()

    async def step(self) -> ModelAnswer:
        """Return the next answer, and check that the same request leads to it again."""
        pieces = [piece async for piece in self.model.stream(self.request())]
        assert isinstance(pieces[-1], ModelAnswer)
        assert read_shape(pieces[-1].shape)["guided"]
        return pieces[-1]

    def request(self) -> ModelRequest:
        """The request as the loop makes it."""
        return ModelRequest(
            model="small",
            system=SYSTEM,
            tools=TOOLS,
            messages=tuple(self.messages),
            max_output_tokens=1000,
        )


def decide(intent: str, **given: str) -> Play:
    return say(json.dumps({"do": intent, **given}))


def called(answer: ModelAnswer) -> tuple[str, dict[str, Any]]:
    (call,) = answer.message.calls
    return call.name, json.loads(call.arguments)


ACTS: Sequence[tuple[str, Play, tuple[str, dict[str, Any]]]] = [
    (
        "Make sure that I call Ben tomorrow at 9.",
        decide("remind_once", text="call Ben", when="tomorrow at 09:00"),
        (
            "remind",
            {"text": "call Ben", "when": "tomorrow at 09:00"},
        ),
    ),
    (
        "Each month on the 5th at 9: rent",
        decide("remind_every", text="rent", when="on day 5 of every month at 09:00"),
        (
            "remind",
            {"text": "rent", "when": "on day 5 of every month at 09:00"},
        ),
    ),
    (
        "Move the library thing to 6 pm",
        decide("move_reminder", which="3 Library", when="at 18:00"),
        ("manage_jobs", {"action": "change", "job": 3, "when": "at 18:00"}),
    ),
    (
        "Drop the bins.",
        decide("delete_reminder", which="2 Bins"),
        ("manage_jobs", {"action": "delete", "job": 2}),
    ),
    (
        "Forget the cello.",
        decide("forget", old="1 Plays the cello."),
        ("memory", {"action": "remove", "target": "memory", "old": "Plays the cello."}),
    ),
    (
        "My doctor is Dr. Kaiser now.",
        decide("correct_memory", old="2 Doctor is Dr. Weiss.", fact="Doctor is Dr. Kaiser."),
        (
            "memory",
            {
                "action": "replace",
                "target": "user",
                "old": "Doctor is Dr. Weiss.",
                "text": "Doctor is Dr. Kaiser.",
            },
        ),
    ),
    (
        "Sprich Deutsch mit mir.",
        decide("set_language", language="German"),
        ("settings", {"language": "de"}),
    ),
    (
        "What about the boiler?",
        decide("search_past", words="boiler"),
        ("recall", {"query": "boiler"}),
    ),
]


@pytest.mark.parametrize(("said", "decided", "expected"), ACTS)
async def test_code_calls_the_tool_that_the_model_decided_on(
    said: str, decided: Play, expected: tuple[str, dict[str, Any]]
) -> None:
    talk = Talk(decided)
    assert called(await talk.says(said)) == expected
    (asked,) = talk.inner.requests
    assert asked.response_schema
    assert asked.tools == ()


async def test_after_the_call_code_says_what_was_done() -> None:
    talk = Talk(decide("remember", fact="I'm left-handed."))
    answer = await talk.says("Remember that I'm left-handed.")
    assert (await talk.returns(answer, "Added to `user`.")).message.text == ("I'll remember that.")


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("Remind me tomorrow at 9 to call Ben.", "call Ben"),
        ("hey, can you remind me to water the plants every monday at 19:00?", "water the plants"),
        ("Erinnere mich morgen um 9 an den Müll", "Müll"),
        ("set a timer for 10 minutes", "Time's up"),
    ],
)
async def test_a_plain_reminder_needs_no_model(said: str, text: str) -> None:
    """On 2026-11-30, one waited eight minutes for a slow model."""
    talk = Talk()
    talk.messages.append(user_message(said, facts=FACTS))
    answer = await talk.step()
    name, given = called(answer)
    assert (name, given["text"]) == ("remind", text)
    assert given["when"]
    done = await talk.returns(answer, "Job 4 was created.")
    assert done.message.text == "Done."
    assert not talk.inner.requests


@pytest.mark.parametrize(
    "said",
    [
        "Remind me of that tomorrow at 9.",
        "Remind me at 10 instead.",
        "Remind me tomorrow at 9 to call Ben. And what is a heron?",
        "Erinnere mich morgen um 9 daran.",
        "Remind me soon to call Ben.",
        "Every morning at 7:00 we have breakfast.",
    ],
)
async def test_what_more_must_be_known_for_is_decided_by_the_model(said: str) -> None:
    talk = Talk(decide("chat"), say("Well."))
    assert (await talk.says(said)).message.text == "Well."


async def test_a_call_that_fails_is_said_to_have_done_nothing() -> None:
    talk = Talk(decide("remind_once", text="call Ben", when="today at 09:00"))
    answer = await talk.says("Make sure that I call Ben today at 9.")
    done = await talk.returns(answer, "`remind` was not run: that time is past.", fails=True)
    assert done.message.text == "I didn't do that. Details: “that time is past.”"
    talk = Talk(decide("remind_once", text="call Ben", when="today at 09:00"))
    answer = await talk.says("Make sure that I call Ben today at 9.")
    assert (await talk.returns(answer, "", fails=True)).message.text == "I didn't do that."


async def test_talk_is_left_to_the_model_and_shares_the_beginning_of_the_prompt() -> None:
    talk = Talk(decide("chat"), say("It is ", "blue."))
    assert (await talk.says("Why is the sky blue?")).message.text == "It is blue."
    decision, words = talk.inner.requests
    assert decision.system == words.system
    assert words.response_schema is None
    one, two = decision.messages[-1].text, words.messages[-1].text
    assert one.partition("\n\n")[0] == two.partition("\n\n")[0]


async def test_a_list_is_written_by_code() -> None:
    talk = Talk(decide("list_reminders"))
    said = (await talk.says("What is on my list?")).message.text
    assert "- **Library**: Once, Thu 3 Dec, 16:00" in said


def test_a_list_names_the_next_time_alone() -> None:
    listed = (
        '2. "Bins" (message): At 19:00 on Tuesday. Next: Tue 2026-12-01 19:00;'
        ' Tue 2026-12-08 19:00 (Europe/Berlin). Text: "Bins!"\n'
        '3. "Library" (message): Once, Thu 2026-12-03 16:00. Next: Thu 2026-12-03 16:00'
        ' (Europe/Berlin). Text: "Go."'
    )
    assert show_jobs(listed, None).splitlines() == [
        "- **Bins**: At 19:00 on Tuesday. Next: Tue 2026-12-01 19:00",
        "- **Library**: Once, Thu 2026-12-03 16:00.",
    ]


@pytest.mark.parametrize(
    ("said", "vetoed"),
    [
        (
            "Make sure that I call Ben at 9.",
            decide("remind_every", text="x", when="every day at 09:00"),
        ),
        ("Do I like tea?", decide("remember", fact="Likes tea.")),
        ("I stopped the cello.", decide("delete_reminder", which="2 Bins")),
        ("The bins are out.", decide("forget", old="1 Plays the cello.")),
        ("Hello there.", decide("remember", fact="Speaks seven languages.")),
        ("What is 12 times 12?", decide("forget", old="1 Plays the cello.")),
    ],
)
async def test_a_vetoed_decision_is_made_again_without_it(said: str, vetoed: Play) -> None:
    talk = Talk(vetoed, decide("chat"), say("Well."))
    assert (await talk.says(said)).message.text == "Well."
    first, second, _ = talk.inner.requests
    assert len(second.response_schema or "") < len(first.response_schema or "")


@pytest.mark.parametrize(("chosen", "old"), [("1 Plays the cello.", "Plays the cello."), ("", "")])
async def test_what_shares_no_word_with_the_message_is_asked_about(chosen: str, old: str) -> None:
    talk = Talk(decide("forget", old="2 Doctor is Dr. Weiss."))
    asked = await talk.says("Forget about my music.")
    name, given = called(asked)
    assert (name, given["question"]) == ("ask", "What shall I forget?")
    assert len(given["options"]) == 3
    then = await talk.returns(asked, f"They chose: {chosen or 'None of these'}")
    if old:
        assert called(then)[1]["old"] == old
    else:
        assert then.message.text == "All right, I changed nothing."


@pytest.mark.parametrize(
    ("said", "decided", "question"),
    [
        (
            "Die Bücherei hat sich erledigt.",
            decide("pause_reminder", which="2 Bins"),
            "Which reminder shall I pause?",
        ),
        (
            "Push the library one to 6 in the evening.",
            decide("delete_reminder", which="3 Library"),
            "Which reminder shall I delete?",
        ),
    ],
)
async def test_an_act_on_a_job_that_does_not_fit_the_words_is_asked_about(
    said: str, decided: Play, question: str
) -> None:
    talk = Talk(decided)
    asked = await talk.says(said)
    assert called(asked)[1]["question"] == question
    then = await talk.returns(asked, "They chose: 3 Library")
    assert called(then)[1]["job"] == 3


async def test_a_reminder_says_something_of_the_message() -> None:
    talk = Talk(decide("remind_every", text="anzußen", when="every thursday at 18:00"))
    answer = await talk.says("Jeden Mittwoch um 18 Uhr ans Schwimmen erinnern")
    assert called(answer)[1] == {
        "text": "Jeden Mittwoch um 18 Uhr ans Schwimmen erinnern",
        "when": "every wednesday at 18:00",
    }


async def test_a_single_job_is_moved_in_any_language() -> None:
    """The list of jobs is in the person's language."""
    listed = (
        '3. "Library" (message): Einmal, Do 03.12.2026 16:00. Next: Do 03.12.2026 16:00'
        ' (Europe/Berlin). Text: "Go."'
    )
    talk = Talk(decide("move_reminder", which="3 Library", when="at 17:30"))
    talk.messages.append(user_message("Library um fünf, bitte", facts=FACTS))
    asked = await talk.returns(await talk.step(), listed)
    assert (
        called(asked)[1]["question"] == "Reminder “Library”: Thu 3 Dec, 17:00. Is that time right?"
    )
    then = await talk.returns(asked, "They chose: Yes")
    assert called(then)[1] == {"action": "change", "job": 3, "when": "at 17:00"}


async def test_what_repeats_is_not_moved_to_a_single_time() -> None:
    talk = Talk(decide("move_reminder", which="2 Bins", when="tomorrow at 09:00"))
    answer = await talk.says("Bins at 9.")
    assert answer.message.calls == ()
    assert "I changed nothing" in answer.message.text


async def test_an_answer_that_is_no_decision_becomes_talk() -> None:
    talk = Talk(say("What?"), say("Hello."))
    assert (await talk.says("Hello.")).message.text == "Hello."


async def test_a_model_that_calls_tools_well_is_passed_through() -> None:
    talk = Talk(say("Hello."))
    talk.model = GuidedModel(talk.inner, "auto")
    talk.messages.append(user_message("Hello.", facts=FACTS))
    pieces = [piece async for piece in talk.model.stream(talk.request())]
    assert isinstance(pieces[-1], ModelAnswer)
    assert talk.inner.requests == [talk.request()]


@pytest.mark.parametrize(
    ("name", "is_guided"),
    [
        ("qwen2.5-coder:1.5b", True),
        ("openai:llama-3.2-3b-instruct", True),
        ("llama3.1:8b", False),
        ("qwen3-30b-a3b", False),
        ("gpt-5-mini", False),
        ("claude-haiku-5-5", False),
    ],
)
def test_a_small_model_is_guided_until_something_is_known_of_it(name: str, is_guided: bool) -> None:
    model = GuidedModel(FakeModel(), "auto")
    assert model.is_guided(name) is is_guided
    assert not GuidedModel(FakeModel(), "tools").is_guided(name)


def test_every_example_of_the_prompt_is_a_decision() -> None:
    entries = ("Likes football.", "Works as a teacher.", "Cousin is called Ida.")
    known = Known(jobs={7: "Gym", 9: "Passport"}, entries=[("user", entry) for entry in entries])
    intents = list_intents({tool.name for tool in TOOLS}, known)
    validate = compile_schema(make_schema(intents))
    assert len(EXAMPLES) > 20
    for said, decision in EXAMPLES:
        validate(json.loads(decision.dump()))
        assert read_decision(decision.dump(), intents) == decision
        assert not list_vetoed(decision, said, known), said
        when = decision.given.get("when", "at ")
        assert when.startswith("at ") or read_when(when, NOW)


async def test_what_changes_often_stands_behind_what_does_not() -> None:
    talk = Talk(decide("chat"), say("Blue."), decide("chat"), say("Hot."))
    await talk.says("Why is the sky blue?")
    talk.messages.append(Message(role="assistant", parts=(TextPart(text="Blue."),)))
    await talk.says("And the sun?")
    first, words, second, _ = talk.inner.requests
    head = 2 * (len(EXAMPLES) + len(SPOKEN))
    assert first.messages[:head] == second.messages[:head]
    assert "Plays the cello." in first.messages[head].text
    assert "2026" not in first.messages[-1].text
    assert "2026-11-29" in words.messages[-1].text


@pytest.mark.parametrize(
    ("words", "field", "value"),
    [
        ("in 20 minutes", "in_minutes", 20),
        ("12 december at 15:00", "at", "2026-12-12T15:00"),
        ("3 may at 08:00", "at", "2027-05-03T08:00"),
        ("on day 31 of every month at 09:00", "cron", "0 9 31 * *"),
        ("am 3. jedes Monats um 9", "cron", "0 9 3 * *"),
        ("every monday and friday at 12:00", "cron", "0 12 * * 1,5"),
        ("every weekend at 10:00", "cron", "0 10 * * 6,0"),
        ("every 3 hours", "every_minutes", 180),
        ("30 february at 10:00", "cron", "0 10 30 2 *"),
    ],
)
def test_code_reckons_the_dates(words: str, field: str, value: object) -> None:
    timing = read_when(words, NOW)
    assert (getattr(timing, field) if timing else None) == value


@pytest.mark.parametrize(
    ("when", "said", "expected"),
    [
        ("tomorrow at 09:00", "Remind me tomorrow at 9.", True),
        ("tomorrow at 21:00", "Remind me tomorrow at 9.", False),
        ("friday at 17:30", "Friday 5:30 pm, please.", True),
        ("friday at 12:00", "Friday at noon.", True),
        ("in 20 minutes", "In 20 minutes.", True),
        ("12 december at 15:00", "On the 12th of December at 3pm.", True),
        ("tomorrow at 15:45", "Tomorrow at quarter to seven.", False),
        ("20 october at 09:00", "Tomorrow at 9.", False),
        ("in 30 minutes", "In half an hour.", True),
        ("in 2 hours", "Two hours from now.", True),
        ("in 15 minutes", "In einer Viertelstunde.", True),
        ("in 45 minutes", "In half an hour.", False),
        ("thursday at 15:30", "Am Donnerstag um halb vier.", True),
        ("thursday at 03:30", "Am Donnerstag um halb vier.", False),
        ("thursday at 16:30", "Am Donnerstag um halb vier.", False),
        ("today at 17:30", "A las cinco y media de la tarde.", True),
        ("tomorrow at 17:30", "A las cinco y media de la tarde.", False),
        ("today at 18:00", "Tomorrow at 6 in the evening.", False),
        ("the day after tomorrow at 08:00", "Übermorgen um 8.", True),
        ("tomorrow at 08:00", "Übermorgen um 8.", False),
        ("sunday at 11:30", "Soy zurda.", False),
    ],
)
def test_a_time_needs_the_words_of_the_message(when: str, said: str, expected: bool) -> None:
    assert names_time(when, said) is expected


@pytest.mark.parametrize(
    ("said", "clocks", "spans"),
    [
        ("No messages between 10 pm and 7 am.", [(7, 0), (22, 0)], []),
        ("In half an hour", [], [30]),
        ("in an hour", [], [60]),
        ("um 8 Uhr 30", [(8, 30)], []),
        ("20.15 Uhr", [(20, 15)], []),
        ("at midnight", [(0, 0)], []),
        ("I'm a night owl, room 512", [], []),
    ],
)
def test_times_are_found_in_words(
    said: str, clocks: list[tuple[int, int]], spans: list[int]
) -> None:
    assert sorted((one.hour, one.minute) for one in list_clocks(said)) == clocks
    assert list_spans(said) == spans


@pytest.mark.parametrize(
    ("when", "said", "expected"),
    [
        ("tomorrow at 15:45", "Tomorrow at quarter to seven", "tomorrow at 06:45"),
        ("tomorrow at 18:30", "At half past six this evening", "today at 18:30"),
        ("at 04:00", "Move it from 3 pm to 5 pm", "at 04:00"),
        ("friday at 09:00", "Friday or Saturday at 9", "friday at 09:00"),
        ("in 20 minutes", "At quarter to seven", "in 20 minutes"),
        ("6 october at 18:30", "At half past six this evening", "today at 18:30"),
        ("6 october at 18:30", "On 6 October at half past six pm", "6 october at 18:30"),
        ("tuesday at 15:00", "On the 12th of December at 3pm", "12 december at 15:00"),
        ("4 may at 10:00", "El 5 de mayo a las 10", "5 may at 10:00"),
        ("every day at 18:30", "Cada mañana a las 6:30", "every day at 06:30"),
        ("every thursday at 18:00", "Jeden Mittwoch um 18 Uhr", "every wednesday at 18:00"),
        ("every day at 18:00", "Every day at 18:00, from Monday on", "every day at 18:00"),
    ],
)
def test_what_the_words_name_once_is_corrected(when: str, said: str, expected: str) -> None:
    assert correct_time(when, said) == expected


@pytest.mark.parametrize("chosen", ["Yes", "No"])
async def test_a_time_that_was_misread_is_confirmed(chosen: str) -> None:
    talk = Talk(decide("remind_once", text="call Ben", when="tomorrow at 15:45"))
    asked = await talk.says("Tomorrow at quarter to seven: call Ben")
    assert called(asked)[1] == {
        "question": "Reminder “call Ben”: tomorrow, 6:45. Is that time right?",
        "options": ["Yes", "No"],
    }
    then = await talk.returns(asked, f"They chose: {chosen}")
    if chosen == "Yes":
        assert called(then)[1]["when"] == "tomorrow at 06:45"
    else:
        assert then.message.text == "All right, I changed nothing."


@pytest.mark.parametrize("chosen", ["Yes", "Only keep it in mind", "No"])
async def test_a_fact_with_a_time_may_be_a_reminder(chosen: str) -> None:
    remind = decide("remind_once", text="go to the airport", when="wednesday at 05:15")
    talk = Talk(decide("remember", fact="Goes to the airport on Wednesday at 5:15."), remind)
    asked = await talk.says("I go to the airport on Wednesday at 5:15, make sure I don't forget.")
    assert called(asked)[1]["options"] == ["Yes", "Only keep it in mind", "No"]
    then = await talk.returns(asked, f"They chose: {chosen}")
    if chosen == "No":
        assert then.message.text == "All right, I changed nothing."
    else:
        name, given = called(then)
        assert name == ("remind" if chosen == "Yes" else "memory")
        wanted = ("when", "wednesday at 05:15") if chosen == "Yes" else ("action", "add")
        assert given[wanted[0]] == wanted[1]


async def test_what_code_said_is_not_there_to_be_repeated() -> None:
    talk = Talk(decide("remember", fact="My bike is green."), decide("chat"), say("Hello."))
    answer = await talk.says("Remember that my bike is green.")
    done = await talk.returns(answer, "Added to `user`.")
    talk.messages.append(done.message)
    await talk.says("Hello.")
    words = talk.inner.requests[-1].messages
    assert [one.text for one in words if one.role == "assistant"][-1] == "Done."


async def test_the_tools_of_a_program_reach_the_model_itself() -> None:
    """Guided mode knows only Talaria's own intents."""
    talk = Talk(say("Plain."))
    asked = ModelRequest(
        model="m",
        system=SYSTEM,
        tools=TOOLS,
        messages=(user_message("Weather?", facts=FACTS),),
        max_output_tokens=100,
        has_client_tools=True,
    )
    pieces = [piece async for piece in talk.model.stream(asked)]
    assert isinstance(pieces[-1], ModelAnswer)
    assert pieces[-1].message.text == "Plain."
    assert talk.inner.requests == [asked]


@pytest.mark.parametrize(
    "words",
    [
        '{"do": "search_past", "words": "boiler"}',
        '{do: "answer", text: "The boiler is fine."}',
        "```json\n{'do': 'chat'}\n```",
        'JSON: {"do":"chat"}',
    ],
)
async def test_a_decision_instead_of_words_is_never_read(words: str) -> None:
    talk = Talk(decide("search_past", words="boiler"), say(words))
    answer = await talk.says("What about the boiler?")
    then = await talk.returns(answer, "Nothing was found.")
    assert "{" not in then.message.text
    assert then.message.text.startswith("I'm not sure")


@pytest.mark.parametrize(
    "order",
    [
        "Give this task to the team desk with message_agent (mode team), and tell me its result: ",
        "Gib diese Aufgabe mit message_agent (mode team) an das Team desk, und sag mir das: ",
    ],
)
async def test_a_task_for_a_team_reaches_it_and_its_result_is_the_answer(order: str) -> None:
    inner = FakeModel()
    team = ToolSpec(name="message_agent", description="", schema='{"type":"object"}')
    request = ModelRequest(
        model="small", system=SYSTEM, messages=(), tools=(*TOOLS, team), max_output_tokens=100
    )
    said = user_message(f"{order}A note: warm water, Friday.", facts=FACTS)
    step = await one_step(inner, replace(request, messages=(said,)))
    (call,) = step.message.calls
    given = {"mode": "team", "to": "desk", "text": "A note: warm water, Friday."}
    assert (call.name, json.loads(call.arguments)) == ("message_agent", given)
    for text, is_error, told in (("## writer\nWarm!", False, "## writer\nWarm!"), ("x", True, "x")):
        result = ToolResultPart(call_id=call.call_id, name=call.name, text=text, is_error=is_error)
        heard = (said, step.message, Message(role="tool", parts=(result,)))
        assert told in (await one_step(inner, replace(request, messages=heard))).message.text
    assert inner.requests == []


async def test_a_helper_speaks_without_a_decision() -> None:
    inner = FakeModel(say("Warm water is back."))
    tools = tuple(
        ToolSpec(name=name, description="", schema='{"type":"object"}')
        for name in ("memory", "recall", "message_agent", "web_search")
    )
    goal = "You are writer, one of the team desk: writer. The task: A note."
    said = user_message(word_task(HelperTask(goal=goal, agent="writer")))
    request = ModelRequest(
        model="small", system=SYSTEM, messages=(said,), tools=tools, max_output_tokens=100
    )
    assert (await one_step(inner, request)).message.text == "Warm water is back."
    (asked,) = inner.requests
    assert asked.system.startswith("You are Talaria.")
    assert "Plays the cello." in asked.system
    (order,) = asked.messages
    assert goal in order.text
    assert "nobody" not in order.text
    assert asked.tools == ()


def lead(*decided: Play, rounds: int = 2) -> tuple[FakeModel, ModelRequest]:
    """A model that leads a team, and the request with its order."""
    members = ["writer [press] (writes; short)", "checker"]
    order = write_order("desk", rounds, members, "A note: warm water, Friday.")
    names = ("memory", "message_agent", "web_search")
    tools = tuple(ToolSpec(name=name, description="", schema="{}") for name in names)
    said = user_message(word_task(HelperTask(goal=order, agent="editor")))
    return FakeModel(*decided), ModelRequest(
        model="small", system=SYSTEM, messages=(said,), tools=tools, max_output_tokens=500
    )


def answer_call(request: ModelRequest, step: ModelAnswer, text: str) -> ModelRequest:
    (call,) = step.message.calls
    result = ToolResultPart(call_id=call.call_id, name=call.name, text=text)
    heard = Message(role="tool", parts=(result,))
    return replace(request, messages=(*request.messages, step.message, heard))


async def test_a_supervisor_chooses_whom_to_ask_and_code_carries_the_words() -> None:
    inner, request = lead(
        decide("ask", who="writer", text="Write it."),
        decide("ask", who="checker", text="Check it."),
        say("Warm water is back on Friday."),
    )
    step = await one_step(inner, request)
    (call,) = step.message.calls
    asked = json.loads(call.arguments)
    assert (call.name, asked["mode"], asked["to"]) == ("message_agent", "ask", "writer")
    assert asked["text"] == (
        "This is the task of the team: A note: warm water, Friday.\n\n"
        "Your part of it now: Write it."
    )
    request = answer_call(request, step, "## writer, answered\nWarm! And on Friday.")
    step = await one_step(inner, request)
    asked = json.loads(step.message.calls[0].arguments)
    assert asked["to"] == "checker"
    heard = "writer said:\nWarm! And on Friday.\n\nYour part of it now: Check it."
    assert asked["text"].endswith(heard)
    request = answer_call(request, step, "## checker, answered\nAll is well.")
    ended = await one_step(inner, request)
    assert (ended.message.text, ended.message.calls) == ("Warm water is back on Friday.", ())
    first, second, summed = inner.requests
    choices = [json.loads(one.response_schema)["anyOf"] for one in (first, second)]
    assert [len(one) for one in choices] == [1, 2], "nobody can finish before somebody was asked"
    assert choices[0][0]["properties"]["who"] == {"enum": ["writer", "checker"]}
    assert "- writer [press] (writes; short)\n- checker" in first.messages[-1].text
    assert "checker said:\nAll is well." in summed.messages[-1].text
    assert summed.response_schema is None
    assert all(one.tools == () and len(one.messages) == 1 for one in inner.requests)


async def test_a_supervisor_finishes_early_or_after_its_rounds() -> None:
    for decided in (decide("finish"), say("no JSON"), decide("ask", who="nobody", text="?")):
        inner, request = lead(decide("ask", who="writer", text="Go."), decided, say("Done."))
        request = answer_call(request, await one_step(inner, request), "## writer, answered\nOh.")
        assert (await one_step(inner, request)).message.text == "Done."
    inner, request = lead(decide("ask", who="writer", text="Go."), say("Done."), rounds=1)
    request = answer_call(request, await one_step(inner, request), "## writer, answered\nOh.")
    assert (await one_step(inner, request)).message.text == "Done."


async def one_step(inner: FakeModel, request: ModelRequest) -> ModelAnswer:
    """The step that a guided model makes of a request."""
    pieces = [piece async for piece in GuidedModel(inner, "guided").stream(request)]
    assert isinstance(pieces[-1], ModelAnswer)
    return pieces[-1]


async def test_each_of_two_messages_gets_its_effect_and_its_word() -> None:
    talk = Talk(
        decide("remember", fact="Likes green tea."),
        decide("delete_reminder", which="2 Bins"),
    )
    talk.messages.append(user_message("Remember that I like green tea.", facts=FACTS))
    step = await talk.says("And delete the bins, please.")
    names = [call.name for call in step.message.calls]
    assert names == ["memory", "manage_jobs"]
    results = tuple(
        ToolResultPart(call_id=call.call_id, name=call.name, text="Saved.")
        for call in step.message.calls
    )
    talk.messages += [step.message, Message(role="tool", parts=results)]
    done = await talk.step()
    assert done.message.text == "I'll remember that.", "the receipt of the other one says it"
    assert len(talk.inner.requests) == 2


async def test_a_message_during_the_work_takes_no_word_from_the_first() -> None:
    talk = Talk(decide("remember", fact="Likes green tea."), decide("chat"), say("Good evening!"))
    step = await talk.says("Remember that I like green tea.")
    (call,) = step.message.calls
    result = ToolResultPart(call_id=call.call_id, name=call.name, text="Saved.")
    talk.messages += [step.message, Message(role="tool", parts=(result,))]
    done = await talk.says("good evening to you")
    assert done.message.text == "I'll remember that.\n\nGood evening!"


async def test_talk_beside_a_wish_is_answered_after_it_is_done() -> None:
    talk = Talk(decide("chat"), decide("delete_reminder", which="2 Bins"), say("Cheers!"))
    talk.messages.append(user_message("What a long day it was", facts=FACTS))
    step = await talk.says("Delete the bins, please.")
    assert called(step) == ("manage_jobs", {"action": "delete", "job": 2})
    done = await talk.returns(step, "Deleted.")
    assert done.message.text == "Cheers!", "the receipt below says what was done"
    assert len(talk.inner.requests) == 3


async def test_the_pieces_of_one_wish_stay_together() -> None:
    talk = Talk(decide("remind_once", text="call Ben", when="tomorrow at 09:00"))
    talk.messages.append(user_message("remind me", facts=FACTS))
    step = await talk.says("tomorrow at 9 to call Ben")
    assert called(step) == ("remind", {"text": "call Ben", "when": "tomorrow at 09:00"})
    assert len(talk.inner.requests) == 1
