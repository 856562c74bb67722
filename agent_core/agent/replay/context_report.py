"""Report what fills a conversation's context, in tokens by source; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from agent_core.agent.compaction.compacted_view import find_compaction, render_summary
from agent_core.agent.compaction.compactor import apply_compaction
from agent_core.agent.prompt.compose import split_parts
from agent_core.agent.prompt.prompt_cache import FrozenPrompt
from agent_core.agent.replay.rebuild import RebuiltCall
from agent_core.agent.replay.records import TurnRecord
from agent_core.models.contract import ModelRequest
from agent_core.models.images import choose, list_shown
from agent_core.models.token_estimate import estimate_input, estimate_messages
from agent_core.state.conversations.usage import ModelCall
from agent_core.transcript import Message, ToolCallPart, ToolResultPart, user_message

PromptSource = Literal["identity", "memory", "files", "tools", "talk", "outputs", "summary"]
"""A source of tokens. `outputs` are tool calls and results; `summary` covers compacted turns."""

_LEAST_RATIO, _MOST_RATIO = 0.4, 4.0
"""Plausible ratios of real to estimated tokens; outside them, the server did not count everything.
"""
_WHOLE_TURNS = 2
"""Newest turns that `/compact` keeps."""
_MOST_SUMMARY = 2_500
_SUMMARY_SHARE = 8
"""A summary takes an eighth of the tokens that it replaces, up to `_MOST_SUMMARY`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextReport:
    """The input of a conversation's next call before anything is said, in tokens by source.

    `saved_by_compaction` is about what `/compact` would save. `read` and `cached` are the input of
    all calls of the last turn, and its cached part; `grown` is the growth of the last call's input
    since the previous turn, None for the first turn.
    """

    sources: Mapping[PromptSource, int]
    saved_by_compaction: int
    calls: int
    read: int
    cached: int
    grown: int | None
    model: str
    output_limit: int

    @property
    def total(self) -> int:
        """The tokens of all sources."""
        return sum(self.sources.values())

    @property
    def history(self) -> int:
        """The tokens that a new session would save."""
        return sum(self.sources[name] for name in ("talk", "outputs", "summary"))


def report_context(
    record: TurnRecord,
    prompt: FrozenPrompt,
    calls: Sequence[RebuiltCall],
    before: Sequence[ModelCall],
) -> ContextReport:
    """Report the context after a turn; `before` are the calls of the previous turn."""
    ratio = _calibrate(prompt, calls)
    compaction = find_compaction(record.transcript, record.compactions)
    shown = apply_compaction(record.transcript, compaction)
    last = calls[-1].spent
    model = last.asked_model or last.model
    images = list_shown(model, choose(shown), shown)
    sources: dict[PromptSource, int] = {
        **{name: _estimate(text) for name, text in split_parts(prompt.system).items()},
        "tools": _estimate_tools(prompt),
        "outputs": _estimate_outputs(shown),
        "summary": 0,
    }
    if compaction and compaction.summary:
        sources["summary"] = estimate_messages((render_summary(compaction.summary),), ())
    whole = estimate_messages(shown, images)
    sources["talk"] = max(whole - sources["outputs"] - sources["summary"], 0)
    return ContextReport(
        sources={name: round(tokens * ratio) for name, tokens in sources.items()},
        saved_by_compaction=round(ratio * _gain(record, shown)),
        calls=len(calls),
        read=sum(call.spent.read_tokens for call in calls),
        cached=sum(call.spent.cache_read_tokens for call in calls),
        grown=last.read_tokens - before[-1].read_tokens if before else None,
        model=model,
        output_limit=last.output_limit or 0,
    )


def _calibrate(prompt: FrozenPrompt, calls: Sequence[RebuiltCall]) -> float:
    """Real tokens per estimated token, by the turn's last call."""
    call = calls[-1]
    if call.sent is None:
        return 1.0
    request = ModelRequest(
        model=call.spent.asked_model or call.spent.model,
        system=prompt.system,
        tools=prompt.tools,
        messages=call.sent.messages,
        max_output_tokens=0,
        images=dict.fromkeys(call.sent.shown, b""),
    )
    ratio = call.spent.read_tokens / max(estimate_input(request), 1)
    return ratio if _LEAST_RATIO <= ratio <= _MOST_RATIO else 1.0


def _gain(record: TurnRecord, shown: Sequence[Message]) -> int:
    """Approximate tokens saved by summarizing all but the newest turns and the first message."""
    stored = record.transcript
    starts = [
        place
        for place, (one, following) in enumerate(pairwise(stored), start=1)
        if one.turn_id != following.turn_id
    ]
    if not starts:
        return 0
    newest = len(stored) - starts[-_WHOLE_TURNS:][0]
    older = shown[1 : len(shown) - newest]
    reported = estimate_messages(older, choose(older))
    return max(reported - min(_MOST_SUMMARY, reported // _SUMMARY_SHARE), 0)


def _estimate(text: str) -> int:
    return estimate_messages((user_message(text),), ())


def _estimate_tools(prompt: FrozenPrompt) -> int:
    request = ModelRequest(
        model="", system="", tools=prompt.tools, messages=(), max_output_tokens=0
    )
    return estimate_input(request)


def _estimate_outputs(messages: Sequence[Message]) -> int:
    parts = tuple(
        part
        for message in messages
        for part in message.parts
        if isinstance(part, ToolCallPart | ToolResultPart)
    )
    return estimate_messages((Message(role="tool", parts=parts),), ())
