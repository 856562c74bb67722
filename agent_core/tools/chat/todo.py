"""The `todo` tool: the plan of a conversation, which outlives compactions and restarts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from agent_core.errors import ToolArgumentError
from agent_core.state.conversations import plans
from agent_core.state.conversations.plans import Plan, PlanItem, PlanState
from agent_core.state.engine.database import Connection, Database
from agent_core.tools.contract import Declaration, Effect, ToolContext, ToolResult
from agent_core.tools.schemas import make_object
from agent_core.transcript import ToolSpec, flatten

MOST_STEPS = 20
LONGEST_STEP = 200
"""Characters."""
_TEXT = {"type": "string", "minLength": 1, "maxLength": LONGEST_STEP}
_STATE = {"enum": ["pending", "active", "done"]}


class TodoTool:
    """The `todo` tool. The plan belongs to the session, and thereby to its conversation."""

    effect: Effect = "idempotent"
    declaration = Declaration(cost="free")
    spec = ToolSpec(
        name="todo",
        description=(
            "Keep a plan of your own work in this conversation, if it takes three or more steps;"
            " the person sees the active one. Not for a person's own lists (`archive`) or reminders"
            " (`remind`). `plan` replaces the whole list, an empty one ends it. `update` changes"
            " steps by number; the next free number adds one. Without arguments, read it. Example:"
            ' {"plan": [{"text": "Read the log", "state": "active"}, {"text": "Name the fault"}]}'
        ),
        schema=json.dumps(
            {
                "type": "object",
                "properties": {
                    "plan": {
                        "type": "array",
                        "maxItems": MOST_STEPS,
                        "items": make_object(("text",), text=_TEXT, state=_STATE),
                    },
                    "update": {
                        "type": "array",
                        "minItems": 1,
                        "maxItems": MOST_STEPS,
                        "items": make_object(
                            ("number",),
                            number={"type": "integer", "minimum": 1, "maximum": MOST_STEPS},
                            text=_TEXT,
                            state=_STATE,
                        ),
                    },
                },
                "maxProperties": 1,
                "additionalProperties": False,
            },
            separators=(",", ":"),
        ),
    )

    def __init__(self, database: Database) -> None:
        self._database = database

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Replace, change or read the plan. Raises `ToolArgumentError` and `StoreError`."""
        given = cast("list[Mapping[str, object]]", arguments.get("plan"))
        changes = cast("list[Mapping[str, object]]", arguments.get("update") or [])

        def work(connection: Connection) -> Plan:
            turn_id, owner_id = context.turn_id, context.owner_id
            plan = plans.find_of_turn(connection, turn_id=turn_id, owner_id=owner_id)
            if not arguments:
                return plan
            plan = _update(plan, changes) if changes else tuple(map(_read_step, given))
            plans.save(connection, turn_id=turn_id, owner_id=owner_id, plan=plan)
            return plan

        # `ToolArgumentError` rolls the transaction back.
        plan = await self._database.write("plans.save", work)
        context.show_plan(*plans.find_current(plan))
        return ToolResult(text=plans.show_plan(plan) or "There is no plan.")


def _update(plan: Plan, changes: Sequence[Mapping[str, object]]) -> Plan:
    """Apply changes in their order. Raises `ToolArgumentError`."""
    steps = list(plan)
    for change in changes:
        number = cast("int", change["number"])
        if number > len(steps) + 1:
            known = f"has {len(steps)} steps" if steps else "is empty"
            raise ToolArgumentError(f"there is no step {number}: the plan {known}")
        if number == len(steps) + 1:
            if "text" not in change:
                raise ToolArgumentError(f"there is no step {number}; give its `text` to add it")
            steps.append(_read_step(change))
            continue
        old = steps[number - 1]
        read = _read_step({"text": old.text, "state": old.state, **change})
        steps[number - 1] = replace(old, text=read.text, state=read.state)
    return tuple(steps)


def _read_step(given: Mapping[str, object]) -> PlanItem:
    text = flatten(str(given["text"]), LONGEST_STEP)
    if not text:
        raise ToolArgumentError("the `text` of a step is empty")
    return PlanItem(text=text, state=cast("PlanState", given.get("state", "pending")))
