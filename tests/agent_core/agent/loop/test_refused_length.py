"""A request that is refused for no clear reason is tried once more with less of the transcript."""

from agent_core.agent.budget import Budget
from agent_core.errors import ModelDeclined, ModelRejected, ModelUnsupported
from agent_core.events import TurnEnded
from agent_core.models.contract import ModelRequest
from agent_core.transcript import Message, TextPart, user_message
from tests.agent_core.agent.loop.rig import Rig
from tests.fakes.limits import UnboundedWindow
from tests.fakes.model import say

LONG = (
    user_message("one"),
    Message(role="assistant", parts=(TextPart(text="first"),)),
    user_message("two"),
)


class ShorteningWindow(UnboundedWindow):
    """Keeps the newest message of a request that was refused for no clear reason."""

    def __init__(self) -> None:
        self.asked = 0

    async def shorten(self, request: ModelRequest, budget: Budget) -> tuple[Message, ...] | None:
        self.asked += 1
        return request.messages[-1:] if len(request.messages) > 1 else None


def said(rig: Rig) -> list[list[str]]:
    """The texts of each request."""
    return [[one.text for one in sent.messages] for sent in rig.model.requests]


async def test_an_unknown_refusal_of_a_long_talk_is_tried_once_more_after_shortening() -> None:
    rig = Rig([ModelRejected("beyond our means")], say("Fine."))
    rig.window = ShorteningWindow()
    assert (await rig.run(LONG))[-1] == TurnEnded(ending="answered", text="Fine.")
    assert said(rig) == [["one", "first", "two"], ["two"]]


async def test_a_refusal_that_stays_goes_on_to_what_can_be_left_out() -> None:
    rig = Rig([ModelRejected("no")], [ModelRejected("no")])
    window = rig.window = ShorteningWindow()
    ended = (await rig.run(LONG))[-1]
    assert isinstance(ended, TurnEnded)
    assert (ended.reason, window.asked) == ("model_rejected", 1)
    assert said(rig) == [["one", "first", "two"], ["two"]]


async def test_a_refusal_with_a_known_reason_shortens_nothing() -> None:
    for refusal in (ModelDeclined("filtered"), ModelUnsupported("no such parameter")):
        rig = Rig([refusal], [refusal])
        window = rig.window = ShorteningWindow()
        await rig.run((LONG[0],))
        assert window.asked == 0
