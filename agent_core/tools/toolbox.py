"""Run a model's tool calls: validate, bound, and turn every failure into a result."""

import asyncio
import difflib
import json
import logging
import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import NoReturn

import fastjsonschema
from fastjsonschema import JsonSchemaDefinitionException, JsonSchemaValueException

from agent_core.errors import CoreError, ToolArgumentError
from agent_core.localization import Text
from agent_core.state.conversations.questions import Choice
from agent_core.tools.contract import Effect, Proposable, Tool, ToolContext, ToolResult
from agent_core.tools.secret_scan import SecretMask
from agent_core.tools.untrusted_text import escape, flatten
from agent_core.tools.user_questions import (
    NeedsApproval,
    Proposal,
    UserPrompt,
    UserPrompter,
    describe_no_answer,
)
from agent_core.transcript import ToolCallPart, ToolSpec

Validate = Callable[[object], object]

_SENTENCE_LIMIT = 400
_NAME_LIMIT = 64
_KINDS: Mapping[type, str] = {
    dict: "an object",
    list: "an array",
    str: "a string",
    bool: "a boolean",
    int: "an integer",
    float: "a number",
    type(None): "null",
}

_SCHEMA_FAULTS = (
    JsonSchemaDefinitionException,
    ValueError,
    # what fastjsonschema lets through where a schema is of the wrong shape: an array for an
    # object, a broken pattern, a reference of a kind that it does not know
    AttributeError,
    KeyError,
    OSError,
    RecursionError,
    TypeError,
    re.error,
)


def compile_schema(spec: ToolSpec) -> Validate:
    """Compile a check of arguments that raises `JsonSchemaValueException`.

    Defaults are not filled in: the tool sees what the model wrote. Raises `ValueError` for a schema
    that is invalid or refers to anything outside of itself.
    """
    try:
        validate: Validate = fastjsonschema.compile(
            json.loads(spec.schema), handlers=_OUTSIDE, use_default=False
        )
    except _SCHEMA_FAULTS as error:
        raise ValueError(f"its schema is not valid: {error}") from error
    return validate


def read_arguments(text: str, validate: Validate) -> dict[str, object]:
    """Parse the arguments of a call; an empty text means none.

    Raises `ToolArgumentError` with the sentence that the model reads.
    """
    arguments = _parse(text) if text.strip() else {}
    try:
        validate(arguments)
    except JsonSchemaValueException as error:
        raise ToolArgumentError(flatten(_explain(error), _SENTENCE_LIMIT)) from error
    except RecursionError as error:
        raise ToolArgumentError("the arguments are nested too deeply") from error
    return arguments


def _parse(text: str) -> dict[str, object]:
    try:
        value = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_read_object)
        json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise ToolArgumentError(
            f"the arguments are not JSON: {error.msg} at line {error.lineno}, column"
            f" {error.colno}; send one JSON object"
        ) from error
    except RecursionError as error:
        raise ToolArgumentError("the arguments are nested too deeply") from error
    except UnicodeEncodeError as error:
        raise ToolArgumentError(
            "the arguments hold half of a surrogate pair, which is no character"
        ) from error
    except ValueError as error:
        raise ToolArgumentError("the arguments hold a number that is too long") from error
    if not isinstance(value, dict):
        kind = _KINDS[type(value)]
        raise ToolArgumentError(f"the arguments must be one JSON object, not {kind}")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ToolArgumentError(f"{name} is not a number that JSON has")


def _read_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            raise ToolArgumentError(f"`{flatten(name, _NAME_LIMIT)}` is given twice")
        seen.add(name)
    return value


def _explain(error: JsonSchemaValueException) -> str:
    """A sentence on what the model must change."""
    place = (error.name or "data").removeprefix("data").removeprefix(".")
    subject = f"`{place}`" if place else "the arguments"
    definition = error.definition if isinstance(error.definition, dict) else {}
    value = error.value
    if error.rule == "required" and isinstance(value, dict):
        missing = [name for name in definition["required"] if name not in value]
        where = f" in {subject}" if place else ""
        return f"{_list(missing)} {'is' if len(missing) == 1 else 'are'} missing{where}"
    if error.rule == "additionalProperties" and isinstance(value, dict):
        known = definition.get("properties", {})
        unknown = [flatten(name, _NAME_LIMIT) for name in value if name not in known]
        there_is = f"there are only {_list(known)}" if known else "there are none"
        return f"{subject} can't have {_list(unknown)}; {there_is}"
    if error.rule == "enum":
        allowed = ", ".join(json.dumps(one, ensure_ascii=False) for one in definition["enum"])
        return f"{subject} must be one of {allowed}"
    if error.rule == "type":
        wanted = definition["type"]
        kinds = wanted if isinstance(wanted, str) else " or ".join(wanted)
        return f"{subject} must be of type {kinds}, not {_KINDS.get(type(value), 'that')}"
    said = str(error.message)
    return subject + said[len(error.name) :] if error.name and said.startswith(error.name) else said


def _list(names: object) -> str:
    return ", ".join(f"`{name}`" for name in names) if isinstance(names, list | dict) else ""


def _refuse_reference(uri: str) -> NoReturn:
    raise JsonSchemaDefinitionException(f"{uri} lies outside of the schema")


_OUTSIDE = dict.fromkeys(("", "data", "file", "ftp", "http", "https", "urn"), _refuse_reference)
"""A schema may come from a foreign server and must not make this process fetch anything."""


RESULT_LIMIT = 20_000
"""Characters of one result that the model gets; about 5,000 tokens."""

_RESULT_TAIL = 4_000
"""The part of them kept for the end, where a command reports its outcome."""
_CLOSENESS = 0.5

_ALLOW, _REFUSE = Text("Allow"), Text("Don't")
_ALLOWED = "allow"

_LONGEST_PREVIEW = 6000
"""Characters of a change that a person can be expected to read before they accept it."""
PROPOSED = (
    "Proposed, not done: words of others are in this conversation, so the person decides with a"
    " button below your answer. Don't repeat the call, and don't say that it is done."
)
"""The result of a call that was proposed instead of run."""

_log = logging.getLogger(__name__)


class Toolbox:
    """An agent's tools by name, in a fixed order."""

    def __init__(
        self,
        tools: Sequence[Tool],
        *,
        timeout: float = 60.0,
        prompter: UserPrompter | None = None,
        mask: SecretMask | None = None,
    ) -> None:
        """`timeout` is in seconds per call. Raises `ValueError` for a duplicate name.

        Without a `prompter`, tools that need approval are refused. Results are stored, so `mask`
        hides secrets in them.
        """
        self._tools = {tool.spec.name: tool for tool in tools}
        if len(self._tools) != len(tools):
            names = [tool.spec.name for tool in tools]
            twice = sorted({name for name in names if names.count(name) > 1})
            raise ValueError(f"two tools have the same name: {', '.join(twice)}")
        self._timeout = timeout
        self._prompter = prompter
        self.mask = mask or SecretMask()
        """Hides secrets in what a turn stores."""
        self._checks: dict[str, Validate] = {}
        self.specs: tuple[ToolSpec, ...] = tuple(tool.spec for tool in tools)
        """The specs of the tools, in their order."""

    def restrict_to(self, names: Collection[str]) -> "Toolbox":
        """A toolbox with only the tools of these names."""
        chosen = [tool for name, tool in self._tools.items() if name in names]
        return Toolbox(chosen, timeout=self._timeout, prompter=self._prompter, mask=self.mask)

    def effect(self, name: str) -> Effect:
        """The effect of repeating a call; `read` for an unknown tool."""
        tool = self._tools.get(name)
        return tool.effect if tool else "read"

    def is_cheap(self, name: str) -> bool:
        """True for a tool whose calls take no time and no money."""
        tool = self._tools.get(name)
        return tool is not None and tool.is_cheap

    def needs_approval(self, name: str) -> bool:
        """True for a tool whose calls wait for the person's approval."""
        return isinstance(self._tools.get(name), NeedsApproval)

    def waits_for_person(self, name: str) -> bool:
        """True for a tool whose calls may wait for a person."""
        return self.needs_approval(name) or hasattr(self._tools.get(name), "patience")

    async def run(
        self,
        call: ToolCallPart,
        context: ToolContext,
        begin: Callable[[], Awaitable[None]] | None = None,
    ) -> ToolResult:
        """Run a call.

        `begin` is awaited before an approved call runs; its exceptions are raised. After untrusted
        words, a change is only proposed. Every failure of the model or the world becomes an error
        result. Raises `QuestionPending`; any other exception is a bug of a tool.
        """
        tool = self._tools.get(call.name)
        if tool is None:
            return _fail(self._describe_unknown(call.name))
        try:
            arguments = read_arguments(call.arguments, self._check_of(tool.spec))
            if proposed := await self._propose(tool, call, arguments, context):
                return proposed
            refusal = await self._ask_approval(tool, arguments, context)
        except ToolArgumentError as error:
            return _fail(f"`{call.name}` was not run: {_end_sentence(error)}")
        except CoreError as error:
            return _fail(f"`{call.name}` failed: {_end_sentence(error)}")
        if refusal:
            return _fail(refusal)
        if begin and isinstance(tool, NeedsApproval):
            await begin()
        return await self._do(tool, call, arguments, context)

    async def _do(
        self,
        tool: Tool,
        call: ToolCallPart,
        arguments: Mapping[str, object],
        context: ToolContext,
    ) -> ToolResult:
        patience = getattr(tool, "patience", getattr(tool, "time_limit", self._timeout))
        scope = asyncio.timeout(patience)
        try:
            async with scope:
                result = await tool.run(arguments, context)
        except ToolArgumentError as error:
            return _fail(f"`{call.name}` was not run: {_end_sentence(error)}")
        except CoreError as error:
            return _fail(f"`{call.name}` failed: {_end_sentence(error)}")
        except OSError as error:
            if isinstance(error, TimeoutError) and scope.expired():
                return _fail(_describe_timeout(tool, patience))
            reason = error.strerror or str(error) or type(error).__name__
            return _fail(f"`{call.name}` failed: {_end_sentence(reason)}")
        return replace(result, text=_bound(self.mask.hide(result.text)))

    async def _propose(
        self,
        tool: Tool,
        call: ToolCallPart,
        arguments: Mapping[str, object],
        context: ToolContext,
    ) -> ToolResult | None:
        """Propose a change after untrusted words; None if the call may run."""
        if not context.sources or context.is_accepted or not isinstance(tool, Proposable):
            return None
        shown = await tool.preview(arguments, context)
        if isinstance(shown, ToolResult):
            return replace(shown, text=_bound(shown.text))
        if not shown:
            return None
        if len(shown) > _LONGEST_PREVIEW:
            return _fail("Not done: the change is too long to be read at once. Make smaller ones.")
        proposal = Proposal(
            person_id=context.person_id,
            turn_id=context.turn_id,
            call_id=context.call_id,
            tool=call.name,
            arguments=call.arguments,
            shown=shown,
            sources=context.sources,
        )
        if self._prompter is None or not await self._prompter.propose(proposal):
            return _fail(f"`{call.name}` was not run: no more changes can be proposed now.")
        return ToolResult(text=PROPOSED)

    async def _ask_approval(
        self, tool: Tool, arguments: Mapping[str, object], context: ToolContext
    ) -> str:
        """The reason why a call may not run; empty if it may."""
        if not isinstance(tool, NeedsApproval):
            return ""
        if self._prompter is None:
            return f"`{tool.spec.name}` was not run: nobody is there who could allow it."
        answer = await self._prompter.ask(
            UserPrompt(
                person_id=context.person_id,
                turn_id=context.turn_id,
                call_id=context.call_id,
                kind="approval",
                text=tool.describe(arguments),
                choices=(
                    Choice(key=_ALLOWED, label=_ALLOW(), style="good"),
                    Choice(key="refuse", label=_REFUSE(), style="danger"),
                ),
            )
        )
        if isinstance(answer, Choice) and answer.key == _ALLOWED:
            return ""
        why = "The person refused." if isinstance(answer, Choice) else describe_no_answer(answer)
        return f"`{tool.spec.name}` was not run. {why}"

    def _check_of(self, spec: ToolSpec) -> Validate:
        check = self._checks.get(spec.name)
        if check is None:
            try:
                check = self._checks[spec.name] = compile_schema(spec)
            except ValueError as error:
                _log.error("tool %s can't be used: %s", spec.name, error)
                raise CoreError(
                    f"the tool itself is broken, don't call it again; {error}"
                ) from error
        return check

    def _describe_unknown(self, name: str) -> str:
        shown = flatten(name, _NAME_LIMIT)
        if not self._tools:
            return f"There is no tool `{shown}`; there are no tools at all."
        near = difflib.get_close_matches(shown, self._tools, n=1, cutoff=_CLOSENESS)
        guess = f" Did you mean `{near[0]}`?" if near else ""
        names = ", ".join(f"`{one}`" for one in self._tools)
        return _bound(f"There is no tool `{shown}`.{guess} There are: {names}.")


def _describe_timeout(tool: Tool, patience: float) -> str:
    doubt = (
        " It is not known whether it took effect: check before repeating it."
        if tool.effect == "unsafe"
        else " Ask for less at once, or take another way."
    )
    return f"`{tool.spec.name}` was stopped: it took longer than {patience:g} s.{doubt}"


def _fail(sentence: str) -> ToolResult:
    return ToolResult(text=_bound(sentence), is_error=True)


def _end_sentence(reason: object) -> str:
    text = str(reason)
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _bound(text: str) -> str:
    """A result that a transcript can hold: bounded, free of our own tags and of characters that
    can't be stored.
    """
    left_out = len(text) - RESULT_LIMIT
    if left_out > 0:
        head, tail = text[: RESULT_LIMIT - _RESULT_TAIL], text[-_RESULT_TAIL:]
        text = f"{head}\n[… {left_out:,} characters left out: ask for a part …]\n{tail}"
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, from a file name for instance
        text = text.encode("utf-8", "replace").decode()
    return escape(text)
