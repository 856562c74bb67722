"""The `delegate_task` tool: helpers that work on parts of a task at the same time."""

import ast
import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from agent_core.errors import ToolArgumentError
from agent_core.ids import CallId
from agent_core.tools.arguments import compile_schema, read_arguments
from agent_core.tools.contract import Declaration, Effect, ToolContext, ToolResult
from agent_core.tools.delegated_tasks import HelperReport, Helpers, HelperTask
from agent_core.tools.schemas import make_object, make_schema
from agent_core.transcript import UNSHOWN, ToolSpec, flatten

MOST_TASKS = 8
_LONGEST_TASK = 8_000
"""Characters of a goal, a context or a schema."""
_LONGEST_RESULT = 6_000
"""Characters of one helper's result; the person's own turn needs the summary only."""
_SECONDS = 1_800.0
_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])')
"""A string, which stays, or a comma behind the last value."""
_TITLE = 60
_TEXT = {"type": "string", "minLength": 1, "maxLength": _LONGEST_TASK}
_TASK = make_object(("goal",), goal=_TEXT, context=_TEXT)


class DelegateTool:
    """The `delegate_task` tool. A repeat after a crash continues the helpers already started."""

    effect: Effect = "idempotent"
    declaration = Declaration(cost="money", time_limit=_SECONDS, has_receipts=True)
    spec = ToolSpec(
        name="delegate_task",
        description=(
            "Let helpers work on large separate parts of a task at the same time. Not for a single"
            " step that you can do, nor for later (`schedule_job`). A helper has files, commands"
            " and the web; it sees nothing of this conversation and can ask nobody, so give it all"
            " that it must know: one `goal` with its `context`, or several `tasks`. Only results"
            " return; with `background`, at once an id for each task, and later a turn with its"
            ' result. Example: {"goal": "List the errors in app.log by kind.", "context": "…"}'
        ),
        schema=make_schema(
            goal=_TEXT,
            context=_TEXT,
            tasks={
                "type": "array",
                "items": _TASK,
                "minItems": 1,
                "maxItems": MOST_TASKS,
            },
            output_schema={
                "type": "object",
                "description": "JSON Schema of each result, an object",
            },
            background={"type": "boolean"},
        ),
    )

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Run the helpers, and return what they found.

        Raises `ToolArgumentError`, `StoreError` and `QuestionPending`.
        """
        if context.helpers is None:
            raise ToolArgumentError("there are no helpers here")
        tasks, helpers = read_tasks(arguments), context.helpers()
        if arguments.get("background") is True:
            numbers = range(1, len(tasks) + 1)
            ids = [await helpers.start(context.call_id, number) for number in numbers]
            return ToolResult(
                text=f"In the background: {', '.join(ids)}. Go on, or end your turn.",
                receipts=(UNSHOWN,),
            )

        def show(done: int) -> None:
            helpers.show_progress(context.call_id, done, len(tasks))

        show(0)
        reports = await run_at_once(helpers, context.call_id, tasks, show)
        heads = [
            f"Helper {number}, {'failed' if report.is_error else 'done'}:"
            f" {flatten(task.goal, _TITLE)}"
            for number, (task, report) in enumerate(zip(tasks, reports, strict=True), start=1)
        ]
        return join_reports(heads, reports)


async def run_at_once(
    helpers: Helpers,
    call_id: CallId,
    tasks: Sequence[HelperTask],
    show: Callable[[int], None] = lambda done: None,
) -> list[HelperReport]:
    """Run the helpers of a call; `show` gets the number that have finished.

    An error is raised only after every helper has reached a point from which it can continue.
    """
    return await run_at_once_from(1, helpers, call_id, tasks, show)


async def run_at_once_from(
    first: int,
    helpers: Helpers,
    call_id: CallId,
    tasks: Sequence[HelperTask],
    show: Callable[[int], None] = lambda done: None,
) -> list[HelperReport]:
    """Run further helpers of a call, whose numbers begin with `first`; see `run_at_once`."""
    done = 0

    async def work(number: int, task: HelperTask) -> HelperReport:
        nonlocal done
        report = await helpers.run(call_id, number, task)
        done += 1
        show(done)
        return report

    working = [asyncio.create_task(work(*one)) for one in enumerate(tasks, start=first)]
    try:
        await asyncio.wait(working)
    finally:
        for one in working:
            one.cancel()
        await asyncio.gather(*working, return_exceptions=True)
    return [one.result() for one in working]


def join_reports(heads: Sequence[str], reports: Sequence[HelperReport]) -> ToolResult:
    """Return the reports of helpers as one result, each below its heading."""
    parts = []
    for head, report in zip(heads, reports, strict=True):
        text = report.text.strip() or "It wrote nothing."
        if len(text) > _LONGEST_RESULT:
            left_out = len(text) - _LONGEST_RESULT
            text = f"{text[:_LONGEST_RESULT]}\n[… {left_out:,} characters left out …]"
        parts.append(f"## {head}\n{text}")
    sources = dict.fromkeys(source for report in reports for source in report.sources)
    return ToolResult(
        text="\n\n".join(parts),
        is_error=all(report.is_error for report in reports),
        sources=tuple(sources),
        receipts=tuple(receipt for report in reports for receipt in report.receipts),
    )


def check_answer(text: str, schema: str) -> str:
    """Return the fault of an answer that must fit a schema; "" if it fits."""
    if not schema:
        return ""
    try:
        read_arguments(find_json(text), compile_schema(schema))
    except ToolArgumentError as error:
        return str(error).replace("the arguments", "the answer")
    return ""


def find_json(text: str) -> str:
    """Return the JSON object of an answer, as models write it; the whole text if it has none.

    They put a fence or words around it, leave a comma behind the last value, or write it as Python.
    """
    begin, end = text.find("{"), text.rfind("}")
    if begin < 0 or end < begin:
        return text.strip()
    found = text[begin : end + 1]
    for one in (text.strip(), found, _COMMA.sub(r"\1", found)):
        with suppress(ValueError, RecursionError):
            json.loads(one)
            return one
    with suppress(ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        value = ast.literal_eval(found)
        if isinstance(value, dict):
            return json.dumps(value, ensure_ascii=False)
    return text.strip()


def read_tasks(arguments: Mapping[str, object]) -> list[HelperTask]:
    """Return the tasks of a call. Raises `ToolArgumentError`."""
    schema = arguments.get("output_schema")
    shape = json.dumps(schema, ensure_ascii=False) if isinstance(schema, dict) else ""
    if shape:
        _check_schema(shape)
    tasks = [
        HelperTask(goal=str(one["goal"]), context=str(one.get("context", "")), schema=shape)
        for one in _list_given(arguments)
    ]
    if not all(task.goal.strip() for task in tasks):
        raise ToolArgumentError("a `goal` is empty")
    return tasks


def _list_given(arguments: Mapping[str, object]) -> list[Mapping[str, object]]:
    """Return the tasks as given: those in `tasks`, or the single one of `goal` and `context`."""
    given, one = arguments.get("tasks"), {"goal", "context"} & arguments.keys()
    if given is None and "goal" in one:
        return [{name: arguments[name] for name in one}]
    if given is None or one:
        raise ToolArgumentError("give either `goal`, with its `context`, or `tasks`")
    assert isinstance(given, list)  # noqa: S101 - the schema says so
    return given


def _check_schema(shape: str) -> None:
    """Refuse a schema that can't be used to check answers. Raises `ToolArgumentError`."""
    if len(shape) > _LONGEST_TASK:
        raise ToolArgumentError(f"`output_schema` is longer than {_LONGEST_TASK} characters")
    if json.loads(shape).get("type") != "object":
        raise ToolArgumentError('`output_schema` must have the type "object"')
    try:
        compile_schema(shape)
    except ValueError as error:
        raise ToolArgumentError(f"`output_schema` can't be used: {error}") from error
