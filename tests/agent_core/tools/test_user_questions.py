"""Asking in the middle of a turn: what is asked, what the model is told, and what needs leave."""

from collections.abc import Mapping

import pytest

from agent_core.errors import StoreFull
from agent_core.ids import CallId
from agent_core.state.conversations.questions import Choice
from agent_core.tools.contract import ToolResult
from agent_core.tools.policy.approval_requests import ApprovalRequest, Decision
from agent_core.tools.toolbox import Toolbox
from agent_core.tools.user_questions import Answer, AskTool, Proposal, QuestionPending, UserPrompt
from agent_core.transcript import ToolCallPart
from tests.agent_core.tools.toolbox_calls import CONTEXT
from tests.fakes.tool import FakeTool, gives

GOOD = '{"question": "Which?", "options": ["Red", "Blue"]}'


class FakeInquirer:
    """Gives what the test planned: the number of a choice, why there is none, or an error."""

    def __init__(self, *answers: int | Answer | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[UserPrompt] = []

    async def ask(self, inquiry: UserPrompt) -> Choice | Answer:
        self.asked.append(inquiry)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return inquiry.choices[answer] if isinstance(answer, int) else answer

    async def propose(self, proposal: Proposal) -> bool:
        raise AssertionError(proposal)

    async def approve(self, request: ApprovalRequest) -> Decision:
        raise AssertionError(request)

    async def use(self, request: ApprovalRequest) -> bool:
        raise AssertionError(request)


class FakeApprover(FakeInquirer):
    """Decides as the test planned, and keeps what it was asked."""

    def __init__(self, decision: Decision | Exception, *, is_usable: bool = True) -> None:
        super().__init__()
        self.decision = decision
        self.is_usable = is_usable
        self.requests: list[ApprovalRequest] = []

    async def approve(self, request: ApprovalRequest) -> Decision:
        self.requests.append(request)
        if isinstance(self.decision, Exception):
            raise self.decision
        return self.decision

    async def use(self, request: ApprovalRequest) -> bool:
        assert request in self.requests
        return self.is_usable


class Sender(FakeTool):
    """A tool that needs leave."""

    def describe(self, arguments: Mapping[str, object]) -> str:
        return f"Send {arguments}?"


async def use(toolbox: Toolbox, name: str, arguments: str) -> ToolResult:
    call = ToolCallPart(call_id=CallId("c1"), name=name, arguments=arguments)
    return await toolbox.run(call, CONTEXT)


async def test_the_question_is_that_of_this_call_with_its_options() -> None:
    prompter = FakeInquirer(1)
    result = await use(Toolbox([AskTool(prompter)]), "ask", GOOD)
    assert result == ToolResult(text="They chose: Blue")
    (asked,) = prompter.asked
    assert (asked.person_id, asked.turn_id, asked.call_id) == (1, 3, "c1")
    assert (asked.kind, asked.text) == ("choice", "Which?")
    assert [(choice.key, choice.label) for choice in asked.choices] == [
        ("o1", "Red"),
        ("o2", "Blue"),
    ]


@pytest.mark.parametrize(
    ("answer", "reported"),
    [("interrupted", "They did not choose, but wrote"), ("late", "No answer came.")],
)
async def test_why_there_is_no_choice_is_told(answer: Answer, reported: str) -> None:
    result = await use(Toolbox([AskTool(FakeInquirer(answer))]), "ask", GOOD)
    assert result.text.startswith(reported)
    assert not result.is_error


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ('{"question": "  ", "options": ["a", "b"]}', "`question` is empty"),
        ('{"question": "%s", "options": ["a", "b"]}' % ("x" * 1501), "longer than 1500"),
        ('{"question": "Q", "options": ["a", "  "]}', "1 to 60 characters"),
        ('{"question": "Q", "options": ["a", "%s"]}' % ("b" * 61), "1 to 60 characters"),
        ('{"question": "Q", "options": ["Yes", " yes "]}', "two options say the same"),
        ('{"question": "Q", "options": ["a"]}', ""),
        ('{"question": "Q", "options": ["1", "2", "3", "4", "5", "6", "7"]}', ""),
        ('{"question": "Q", "options": "a, b"}', ""),
        ('{"options": ["a", "b"]}', ""),
    ],
)
async def test_what_can_not_be_asked_is_not_asked(arguments: str, complaint: str) -> None:
    prompter = FakeInquirer()
    result = await use(Toolbox([AskTool(prompter)]), "ask", arguments)
    assert result.is_error
    assert complaint in result.text
    assert prompter.asked == []


async def test_a_person_has_longer_than_a_tool() -> None:
    """The question itself ends the wait, so that its message can say so."""
    toolbox = Toolbox([AskTool(FakeInquirer(0))], timeout=0.0)
    assert (await use(toolbox, "ask", GOOD)).text == "They chose: Red"


async def test_a_store_that_refuses_is_told() -> None:
    result = await use(Toolbox([AskTool(FakeInquirer(StoreFull("full")))]), "ask", GOOD)
    assert result == ToolResult(text="`ask` failed: full.", is_error=True)


async def test_a_gateway_that_goes_out_is_no_answer() -> None:
    with pytest.raises(QuestionPending):
        await use(Toolbox([AskTool(FakeInquirer(QuestionPending()))]), "ask", GOOD)


# Leave


async def test_a_call_that_is_allowed_begins_then_and_is_run_with_what_was_shown() -> None:
    order: list[str] = []
    tool, prompter = Sender("send", gives(ToolResult(text="sent"))), FakeApprover(Decision())
    toolbox = Toolbox([tool], prompter=prompter)

    async def begin(request: ApprovalRequest | None) -> bool:
        order.append(f"begun, {len(tool.asked)} run")
        return request is not None

    call = ToolCallPart(call_id=CallId("c1"), name="send", arguments='{"to": "Ben"}')
    assert (await toolbox.run(call, CONTEXT, begin)).text == "sent"
    assert order == ["begun, 0 run"]
    assert prompter.requests[0].shown == "Send {'to': 'Ben'}?"
    assert prompter.requests[0].arguments == '{"to":"Ben"}'
    assert len(prompter.requests[0].digest) == 64
    assert tool.asked[0][0] == {"to": "Ben"}


@pytest.mark.parametrize(
    ("answer", "reported"),
    [
        (Decision(refusal="no"), "`send` was not run. The person said no."),
        (
            Decision(refusal="no", why='Not to "Ben"'),
            '`send` was not run. The person said no, because: "Not to \\"Ben\\""',
        ),
        (Decision(refusal="interrupted"), "`send` was not run. They did not decide"),
        (Decision(refusal="late"), "`send` was not run. Nobody answered in time"),
        (Decision(refusal="unreachable"), "`send` was not run. Nobody who may allow it"),
        (Decision(refusal="changed"), "`send` was not run. It differs from what was shown"),
        (StoreFull("full"), "`send` failed: full."),
    ],
)
async def test_a_call_that_is_not_allowed_neither_begins_nor_runs(
    answer: Decision | Exception, reported: str
) -> None:
    tool = Sender("send")

    async def begin(_: ApprovalRequest | None) -> bool:
        raise AssertionError

    call = ToolCallPart(call_id=CallId("c1"), name="send", arguments="{}")
    toolbox = Toolbox([tool], prompter=FakeApprover(answer))
    result = await toolbox.run(call, CONTEXT, begin)
    assert result.is_error
    assert result.text.startswith(reported)
    assert tool.asked == []


async def test_an_approval_that_was_used_up_runs_nothing() -> None:
    tool = Sender("send")
    prompter = FakeApprover(Decision(), is_usable=False)
    result = await use(Toolbox([tool], prompter=prompter), "send", "{}")
    assert "used up or has expired" in result.text

    async def begin(request: ApprovalRequest | None) -> bool:
        return request is None

    call = ToolCallPart(call_id=CallId("c1"), name="send", arguments="{}")
    toolbox = Toolbox([tool], prompter=FakeApprover(Decision()))
    assert "used up or has expired" in (await toolbox.run(call, CONTEXT, begin)).text
    assert tool.asked == []


async def test_a_call_that_is_too_long_to_be_read_is_not_asked_about() -> None:
    tool, prompter = Sender("send"), FakeApprover(Decision())
    long = '{"to": "%s"}' % ("x" * 7000)
    result = await use(Toolbox([tool], prompter=prompter), "send", long)
    assert "too much for a person to read" in result.text
    assert (prompter.requests, tool.asked) == ([], [])


async def test_where_nobody_can_be_asked_nothing_is_allowed() -> None:
    tool = Sender("send")
    result = await use(Toolbox([tool]), "send", "{}")
    assert result.is_error
    assert "Nobody who may allow it can be asked" in result.text
    assert tool.asked == []


async def test_arguments_that_do_not_fit_are_not_asked_about() -> None:
    prompter = FakeApprover(Decision())
    tool = Sender("send", schema='{"type":"object","required":["to"]}')
    result = await use(Toolbox([tool], prompter=prompter), "send", "{}")
    assert result.is_error
    assert (prompter.requests, tool.asked) == ([], [])


async def test_what_the_beginning_raises_is_raised_and_nothing_is_run() -> None:
    tool = Sender("send")

    async def begin(_: ApprovalRequest | None) -> bool:
        raise StoreFull("full")

    call = ToolCallPart(call_id=CallId("c1"), name="send", arguments="{}")
    with pytest.raises(StoreFull):
        await Toolbox([tool], prompter=FakeApprover(Decision())).run(call, CONTEXT, begin)
    assert tool.asked == []


async def test_other_tools_are_neither_asked_about_nor_begun_late() -> None:
    prompter = FakeInquirer()
    toolbox = Toolbox([FakeTool("look"), Sender("send")], prompter=prompter)
    assert (toolbox.begins_late("look"), toolbox.begins_late("send")) == (False, True)

    async def begin(_: ApprovalRequest | None) -> bool:
        raise AssertionError

    call = ToolCallPart(call_id=CallId("c1"), name="look", arguments="{}")
    assert (await toolbox.run(call, CONTEXT, begin)).text == "look done 1"
    assert prompter.asked == []
