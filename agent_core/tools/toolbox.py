"""Run a model's tool calls: validate, bound, and turn every failure into a result."""

import asyncio
import difflib
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace

from agent_core.errors import CoreError, ToolArgumentError
from agent_core.tools.arguments import Validate, compile_schema, read_arguments
from agent_core.tools.contract import Effect, Tool, ToolContext, ToolResult
from agent_core.tools.gate import Gate, Pause
from agent_core.tools.policy import DeclaresActions, Policy
from agent_core.tools.results import bound, end_sentence, fail
from agent_core.tools.secret_scan import SecretMask
from agent_core.tools.untrusted_text import flatten
from agent_core.tools.user_questions import NeedsApproval, UserPrompter
from agent_core.transcript import ToolCallPart, ToolSpec

_NAME_LIMIT = 64
_CLOSENESS = 0.5

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
        policy: Policy | None = None,
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
        self._policy = policy
        self._gate = Gate(prompter, policy)
        self.mask = mask or SecretMask()
        """Hides secrets in what a turn stores."""
        self._checks: dict[str, Validate] = {}
        self.specs: tuple[ToolSpec, ...] = tuple(tool.spec for tool in tools)
        """The specs of the tools, in their order."""

    def restrict_to(self, names: Collection[str]) -> "Toolbox":
        """A toolbox with only the tools of these names."""
        chosen = [tool for name, tool in self._tools.items() if name in names]
        return Toolbox(
            chosen,
            timeout=self._timeout,
            prompter=self._prompter,
            mask=self.mask,
            policy=self._policy,
        )

    def effect(self, name: str) -> Effect:
        """The effect of repeating a call; `read` for an unknown tool."""
        tool = self._tools.get(name)
        return tool.effect if tool else "read"

    def is_free(self, name: str) -> bool:
        """True for a tool whose calls take no time and no money."""
        tool = self._tools.get(name)
        return tool is not None and tool.declaration.cost == "free"

    def needs_approval(self, name: str) -> bool:
        """True for a tool whose calls wait for the person's approval."""
        return isinstance(self._tools.get(name), NeedsApproval | DeclaresActions)

    def waits_for_person(self, name: str) -> bool:
        """True for a tool whose calls may wait for a person."""
        tool = self._tools.get(name)
        return tool is not None and tool.declaration.waits_for_person

    async def run(
        self,
        call: ToolCallPart,
        context: ToolContext,
        begin: Callable[[], Awaitable[None]] | None = None,
        pause: Pause = nullcontext,
    ) -> ToolResult:
        """Run a call.

        `begin` is awaited before an approved call runs; its exceptions are raised. After untrusted
        words, a change is only proposed. Every failure of the model or the world becomes an error
        result. Raises `QuestionPending`; any other exception is a bug of a tool.
        """
        tool = self._tools.get(call.name)
        if tool is None:
            return fail(self._describe_unknown(call.name))
        try:
            arguments = read_arguments(call.arguments, self._check_of(tool.spec))
            permit = await self._gate.check(tool, call, arguments, context, pause)
        except ToolArgumentError as error:
            return fail(f"`{call.name}` was not run: {end_sentence(error)}")
        except CoreError as error:
            return fail(f"`{call.name}` failed: {end_sentence(error)}")
        if isinstance(permit, ToolResult):
            return permit
        if begin and self.needs_approval(call.name):
            await begin()
        if stopped := await self._gate.confirm(permit, tool, arguments, context):
            return stopped
        return await self._do(tool, call, arguments, context)

    async def _do(
        self,
        tool: Tool,
        call: ToolCallPart,
        arguments: Mapping[str, object],
        context: ToolContext,
    ) -> ToolResult:
        declared = tool.declaration
        seconds = self._timeout if declared.time_limit is None else declared.time_limit
        scope = asyncio.timeout(seconds)
        try:
            async with scope:
                result = await tool.run(arguments, context)
        except ToolArgumentError as error:
            return fail(f"`{call.name}` was not run: {end_sentence(error)}")
        except CoreError as error:
            return fail(f"`{call.name}` failed: {end_sentence(error)}")
        except OSError as error:
            if isinstance(error, TimeoutError) and scope.expired():
                return fail(_describe_timeout(tool, seconds))
            reason = error.strerror or str(error) or type(error).__name__
            return fail(f"`{call.name}` failed: {end_sentence(reason)}")
        return replace(result, text=bound(self.mask.hide(result.text)))

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
        return bound(f"There is no tool `{shown}`.{guess} There are: {names}.")


def _describe_timeout(tool: Tool, seconds: float) -> str:
    doubt = (
        " It is not known whether it took effect: check before repeating it."
        if tool.effect == "unsafe"
        else " Ask for less at once, or take another way."
    )
    return f"`{tool.spec.name}` was stopped: it took longer than {seconds:g} s.{doubt}"
