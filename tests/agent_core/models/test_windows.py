"""The window that a refusal names is learned, and the answer made to fit it."""

import pytest

from agent_core.agent.compaction.token_meter import ContextRules, TokenMeter
from agent_core.errors import ModelOverflow
from agent_core.ids import SessionId
from agent_core.models.contract import HasProfiles
from agent_core.models.windows import find_room, find_window
from tests.agent_core.models.rig import Rig
from tests.emulators.streaming import Fault
from tests.tables import check_each

SESSION = SessionId(1)
VLLM = (
    "'max_tokens' or 'max_completion_tokens' is too large: 8000. This model's maximum context"
    " length is 4096 tokens and your request has 1000 input tokens (8000 > 4096 - 1000)."
)
OPENAI = (
    "This model's maximum context length is 4,096 tokens. However, you requested 9000 tokens"
    " (1000 in the messages, 8000 in the completion). Please reduce the length of the messages."
)
ROWS = (
    (VLLM, 4096, 3080),
    (OPENAI, 4096, 3080),
    ("input length and `max_tokens` exceed context limit: 3000 + 8000 > 10000", 10000, 6984),
    ("This model's maximum context length is 4096 tokens; you have 4000 input tokens", 4096, 0),
    ("the request exceeds the available context size (4096 tokens)", 4096, 0),
    ("prompt is too long: 213462 tokens > 200000 maximum", 200000, 0),
    ('{"error": "exceed_context_size_error", "n_ctx": 8192}', 8192, 0),
    (
        "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
        32768,
        0,
    ),
    ("Please reduce the length of the messages or completion", 0, 0),
    ("maximum context length is 12 tokens", 0, 0),
)


def test_windows_and_room_are_read() -> None:
    def check(row: tuple[str, int, int]) -> None:
        said, window, room = row
        assert (find_window(said), find_room(said)) == (window, room)

    check_each(ROWS, check)


@pytest.mark.parametrize("said", [VLLM, OPENAI])
async def test_an_answer_is_made_to_fit_the_window_and_the_next_fits_at_once(
    rig: Rig, said: str
) -> None:
    rig.api.plan(Fault(status=400, message=said))
    await rig.ask("hello", max_output_tokens=8000)
    assert [one["max_tokens"] for one in rig.api.requests] == [8000, 3080]
    model = rig.provider.model
    assert isinstance(rig.model, HasProfiles)
    assert rig.model.profile(model).values == {"window": 4096}, "the room is of this request only"
    rules = ContextRules(cap_tokens=200_000, threshold_percent=80)
    meter = TokenMeter(provider=rig.model, model=model, rules=rules)
    request = rig.request("hello", max_output_tokens=8000)
    assert meter.output_left(SESSION, request, 1000) < 4096


async def test_a_server_that_names_less_and_less_room_is_not_asked_for_ever(rig: Rig) -> None:
    for taken in range(1000, 1009):
        rig.api.plan(Fault(status=400, message=VLLM.replace("1000", str(taken))))
    assert type(await rig.refused("hello", max_output_tokens=8000)) is ModelOverflow
    assert len(rig.api.requests) == 2


async def test_an_input_that_is_too_long_is_an_overflow(rig: Rig) -> None:
    rig.api.plan(Fault(status=400, message=ROWS[4][0]))
    assert type(await rig.refused("hello")) is ModelOverflow
    assert len(rig.api.requests) == 1
