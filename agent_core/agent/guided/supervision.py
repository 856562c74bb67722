"""Let a small model lead a team: it chooses whom to ask, and code carries the words. Pure."""

import json
from collections.abc import Mapping, Sequence

from agent_core.agent.guided.decisions import Decision
from agent_core.agent.guided.prompt import compose_helper, force_choice
from agent_core.agent.guided.transcript import Step
from agent_core.agent.named.supervisor_order import SupervisorOrder
from agent_core.models.contract import ModelRequest

ASK, FINISH = "ask", "finish"
_LONGEST_ORDER = 300
_LONGEST_HEARD = 6_000
"""Characters of what the members said, for the next who is asked."""
_SECONDS = 1_800
"""How long a member may take, at most that of the team: a small model may be slow, too."""
_FIRST = (
    'Who shall begin? Answer with JSON, such as {example}; "text" is one sentence that says what'
    " this member shall do."
)
_NEXT = (
    "Answer with JSON. If something is missing or wrong, ask a member, such as {example}. If the"
    ' task is done, answer {{"do": "finish"}}.'
)
_SUM = (
    "Now write the result of the task in words: only the finished result for the person, with what"
    " the members found. Say nothing of the team."
)


def list_choices(order: SupervisorOrder, steps: Sequence[Step]) -> dict[str, dict[str, object]]:
    """Return the fields of each choice of a supervisor, by its name; none after its rounds.

    It can't finish before anybody was asked.
    """
    if len(steps) >= order.rounds or not order.members:
        return {}
    text = {"type": "string", "minLength": 1, "maxLength": _LONGEST_ORDER}
    ask: dict[str, object] = {"who": {"enum": list(order.members)}, "text": text}
    return {ASK: ask, FINISH: {}} if steps else {ASK: ask}


def compose_choice(
    request: ModelRequest, order: SupervisorOrder, steps: Sequence[Step]
) -> ModelRequest:
    """Return the request for a choice: whom to ask next and for what, or to finish."""
    unasked = [one for one in order.members if one not in _list_asked(steps)]
    who = (unasked or order.members)[0]
    example = json.dumps(
        {"do": ASK, "who": who, "text": f"Do the part of the {who}."}, ensure_ascii=False
    )
    question = (_NEXT if steps else _FIRST).format(example=example)
    asked = compose_helper(request, _recount(order, steps), question)
    return force_choice(asked, list_choices(order, steps))


def compose_sum(
    request: ModelRequest, order: SupervisorOrder, steps: Sequence[Step]
) -> ModelRequest:
    """Return the request for a supervisor's last message."""
    return compose_helper(request, _recount(order, steps), _SUM)


def plan_question(
    order: SupervisorOrder, steps: Sequence[Step], decision: Decision
) -> Mapping[str, object]:
    """Return the arguments of `message_agent` that ask a member, with all that it must know.

    A small model would not repeat the task, nor what others said.
    """
    parts = [f"This is the task of the team: {order.task}", *([_hear(steps)] if steps else [])]
    parts.append(f"Your part of it now: {decision.given['text']}")
    given = {"mode": "ask", "to": decision.given["who"], "text": "\n\n".join(parts)}
    return {**given, "deadline_s": _SECONDS}


def _recount(order: SupervisorOrder, steps: Sequence[Step]) -> str:
    head = f"You lead the team {order.team}. Its members:\n{order.described}"
    parts = [head, f"The task: {order.task}", *([_hear(steps)] if steps else [])]
    return "\n\n".join(parts)


def _hear(steps: Sequence[Step]) -> str:
    """Return what the members said, the newest whole."""
    told = "\n\n".join(
        f"{name} said:\n{step.result.text.partition(chr(10))[2].strip() or step.result.text}"
        for name, step in zip(_list_asked(steps), steps, strict=True)
        if step.result
    )
    left_out = len(told) - _LONGEST_HEARD
    return f"[… {left_out:,} characters left out …]\n{told[left_out:]}" if left_out > 0 else told


def _list_asked(steps: Sequence[Step]) -> list[str]:
    return [str(json.loads(step.call.arguments).get("to", "")) for step in steps]
