"""Run a model's tool calls: validate them, limit them, and turn every failure into a result."""

import asyncio
import json
import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Protocol

from agent_core.errors import CoreError, ToolArgumentError
from agent_core.ids import PersonId
from agent_core.tools.arguments import Validate, compile_schema, read_leniently
from agent_core.tools.client_tools import ClientTools, make_client_tools, name_for_model
from agent_core.tools.contract import (
    Effect,
    HoldsPlace,
    Pause,
    Proposable,
    Tool,
    ToolContext,
    ToolResult,
)
from agent_core.tools.gate import Begin, Gate
from agent_core.tools.policy.contract import DeclaresActions
from agent_core.tools.policy.policy import Policy
from agent_core.tools.results import bound, end_sentence, fail, hide_secrets
from agent_core.tools.secret_scan import SecretMask
from agent_core.tools.selection.call_rules import Caller, CallRule, TurnRules
from agent_core.tools.selection.catalog import (
    SEARCH_TOOL,
    USE_TOOL,
    Catalog,
    make_search_tools,
    order_for_prompt,
    suggest,
)
from agent_core.tools.text_cleaner import TextCleaner
from agent_core.tools.user_questions import NeedsApproval, UserPrompter
from agent_core.transcript import ToolCallPart, ToolSpec, flatten, make_source

_NAME_LIMIT = 64

_log = logging.getLogger(__name__)


class Overflow(Protocol):
    """Stores the whole of a result that is too long, so that the model can read the rest."""

    async def keep(self, text: str, context: ToolContext) -> str:
        """Store a text; return a clause on how to get the rest, "" if no place can hold it.

        Never raises for a full or unreachable place: the clause says so.
        """


class ToolSource(Protocol):
    """Tools that may appear and disappear, such as MCP servers'; never in a frozen prompt."""

    async def list_tools(self, person_id: PersonId) -> Sequence[Tool]:
        """List the tools that a person may use now; each tool's spec is constant.

        May read the database, and never waits for a server. Names are unique within a source.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSetup:
    """Further tools and rules of a toolbox.

    `sources` offer tools that may appear and disappear. `rules` are the owner's. With
    `hides_rare`, rare tools are found by search even if there is room for them in the prompt.
    """

    sources: tuple[ToolSource, ...] = ()
    rules: tuple[CallRule, ...] = ()
    hides_rare: bool = False
    overflow: Overflow | None = None
    """Stores results that are too long to be shown whole."""


class Toolbox:
    """An agent's tools by name. Some are in the prompt; the model finds the others by search."""

    def __init__(
        self,
        tools: Sequence[Tool],
        *,
        timeout: float = 60.0,
        prompter: UserPrompter | None = None,
        mask: SecretMask | None = None,
        policy: Policy | None = None,
        setup: ToolSetup | None = None,
    ) -> None:
        """`timeout` is in seconds per call. Raises `ValueError` for a duplicate name.

        Without a `prompter`, calls that need approval are refused; without a
        `policy`, there are no rules. Results are stored, so `mask`
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
        self._cleaner = TextCleaner(self.mask)
        self._setup = setup or ToolSetup()
        self._foreign: dict[str, Tool] = {}
        self._passed: dict[str, ToolSpec] = {}
        self._off: frozenset[str] = frozenset()
        self._off_now: frozenset[str] = frozenset()
        self._rules: TurnRules | None = None
        self.specs: tuple[ToolSpec, ...] = ()
        """The specs of the tools in the prompt, in their order there."""
        self._arrange()

    def restrict_to(self, names: Collection[str], *, keeps_sources: bool = False) -> "Toolbox":
        """Return a toolbox with only the tools of these names.

        With `keeps_sources`, it also has the tools of the sources. Without sources, rare tools are
        in the prompt, too.
        """
        chosen = [tool for name, tool in self._tools.items() if name in names]
        if keeps_sources:
            return self._copy(chosen, self._setup)
        return self._copy(chosen, replace(self._setup, sources=(), hides_rare=False))

    def open(
        self,
        caller: Caller = "direct",
        off: Collection[str] = (),
        earlier: Iterable[tuple[str, bool]] = (),
        *,
        person: str = "",
        agent: str = "",
        rules: Sequence[CallRule] = (),
    ) -> "Toolbox":
        """Return the toolbox of one turn, without the tools that are `off`.

        `earlier` are the turn's previous calls, as (name, whether it succeeded). `person` is a
        folder name; `rules` are those of the named `agent`.
        """
        box = object.__new__(
            Toolbox
        )  # `copy` takes five times as long, and each turn has a toolbox
        vars(box).update(vars(self))
        box._foreign = {}
        if off or self._setup.sources:  # so the search lists only tools that this turn may use
            box._off, box._tools = frozenset(off), dict(self._tools)
            box._arrange()
        rules = (*rules, *(one for one in self._setup.rules if one.holds_for(person, agent)))
        if rules:
            available = [name for name in box._tools if name not in box._off]
            box._rules = TurnRules(rules, caller, available)
            box._rules.resume(earlier)
        return box

    def add_client_tools(self, client: ClientTools) -> "Toolbox":
        """Return the toolbox of one turn with the tools of the program that asks.

        Raises `ValueError` if two of them have one name.
        """
        if not client.specs:
            return self
        tools = make_client_tools(client, self._tools.keys())
        box = object.__new__(Toolbox)
        vars(box).update(vars(self))
        box._passed = {tool.spec.name: tool.spec for tool in tools}
        if len(box._passed) != len(tools):
            raise ValueError("two tools of a program have the same name")
        box._tools = {**self._tools, **{tool.spec.name: tool for tool in tools}}
        box.specs = (*self.specs, *box._passed.values())
        return box

    def name_client_tool(self, name: str) -> str:
        """Return the name under which the model sees a tool of the program that asks."""
        return name_for_model(name, self._tools.keys() - self._passed.keys())

    def _copy(self, tools: Sequence[Tool], setup: ToolSetup) -> "Toolbox":
        return Toolbox(
            [tool for tool in tools if tool.spec.name not in (SEARCH_TOOL, USE_TOOL)],
            timeout=self._timeout,
            prompter=self._prompter,
            mask=self.mask,
            policy=self._policy,
            setup=setup,
        )

    def _arrange(self) -> None:
        """Choose the tools in the prompt, and add the search if any tools are left."""
        for name in (SEARCH_TOOL, USE_TOOL):
            self._tools.pop(name, None)
        shown, hidden = order_for_prompt(
            list(self._tools.values()),
            has_sources=bool(self._setup.sources),
            hides_rare=self._setup.hides_rare,
        )
        if hidden or self._setup.sources:
            names = [tool.spec.name for tool in hidden if tool.spec.name not in self._off]
            search = make_search_tools(names, self._list_usable)
            self._tools.update((tool.spec.name, tool) for tool in search)
            shown += search
        self.specs = tuple(tool.spec for tool in shown if tool.spec.name not in self._off)

    def still_offers(self, specs: Collection[ToolSpec]) -> bool:
        """Return whether a prompt with these tools may still be used.

        Tools switched on since then are found by search; calls of tools switched off are refused.
        """
        given = {spec.name: spec for spec in specs}
        mine = {spec.name: spec for spec in self.specs}
        mine.update((name, self._tools[name].spec) for name in self._off & self._tools.keys())
        for searching in (given, mine):
            searching.pop(SEARCH_TOOL, None)
        must_have = {USE_TOOL} if USE_TOOL in mine else mine.keys() - self._off
        must_have |= self._passed.keys()
        return must_have <= given.keys() and given.items() <= mine.items()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of Talaria's own tools, including those found by search."""
        hidden = (SEARCH_TOOL, USE_TOOL, *self._passed)
        return tuple(name for name in self._tools if name not in hidden)

    @property
    def all_specs(self) -> tuple[ToolSpec, ...]:
        """The specs of Talaria's own tools, including those found by search."""
        return tuple(self._tools[name].spec for name in self.names)

    @property
    def has_sources(self) -> bool:
        """True if some tools come from other sources."""
        return bool(self._setup.sources)

    async def load(self, names: Iterable[str], person_id: PersonId, owner_id: PersonId) -> None:
        """Look up which tools are off now, and other sources' tools if a name is theirs.

        Raises `StoreError`.
        """
        if self._policy:
            self._off_now = await self._policy.list_off(owner_id)
        if self._setup.sources and not all(name in self._tools for name in names):
            found = await self.list_foreign(person_id)
            self._foreign = {tool.spec.name: tool for tool in found}

    async def list_foreign(self, person_id: PersonId) -> list[Tool]:
        """List the tools of other sources that a person may use now. Raises `StoreError`."""
        return [tool for one in self._setup.sources for tool in await one.list_tools(person_id)]

    async def _list_usable(self, context: ToolContext) -> Catalog:
        found = await self.list_foreign(context.person_id)
        hidden = self._off | self._tools.keys()
        return Catalog(
            own=tuple(self._tools[name] for name in self.names if name not in self._off),
            foreign=tuple(tool for tool in found if tool.spec.name not in hidden),
        )

    def _find(self, name: str) -> Tool | None:
        return self._tools.get(name) or self._foreign.get(name)

    def list_missing(self) -> tuple[str, ...]:
        """Return the tools that a rule requires before the turn may end, and that did not run."""
        return self._rules.list_missing() if self._rules else ()

    def effect(self, name: str) -> Effect:
        """The effect of repeating a call; `unsafe` for a tool that no longer exists."""
        tool = self._find(name)
        return tool.effect if tool else "unsafe"

    def has_receipts(self, name: str) -> bool:
        """True for a tool whose calls change nothing without a receipt."""
        tool = self._find(name)
        return tool is not None and (tool.effect == "read" or tool.declaration.has_receipts)

    def is_free(self, name: str) -> bool:
        """True for a tool whose calls need no noticeable time and no money."""
        tool = self._find(name)
        return tool is not None and tool.declaration.cost == "free"

    def begins_late(self, name: str) -> bool:
        """True for a tool whose calls are recorded right before they run.

        Before that, they may wait for a person's approval, or be inside a `use_tool` call.
        """
        is_shown = any(spec.name == name for spec in self.specs)
        is_asked = isinstance(self._tools.get(name), NeedsApproval | DeclaresActions)
        return is_asked or not is_shown or name == USE_TOOL

    def waits_for_person(self, name: str) -> bool:
        """True for a tool that waits for a person while it runs."""
        tool = self._find(name)
        return tool is not None and tool.declaration.waits_for_person

    async def preview(self, call: ToolCallPart, context: ToolContext) -> "str | ToolResult":
        """Describe the change that a call would make now; "" for a tool that changes nothing.

        Raises what the tool's preview raises.
        """
        tool: object = self._find(call.name)
        if isinstance(tool, Proposable):
            return await tool.preview(json.loads(call.arguments), context)
        return ""

    async def run(
        self,
        call: ToolCallPart,
        context: ToolContext,
        begin: Begin | None = None,
        pause: Pause = nullcontext,
    ) -> ToolResult:
        """Run a call.

        `begin` is awaited right before a call runs that may have needed approval; its exceptions
        are raised. `pause` surrounds the wait for a person, or for a place. After untrusted words,
        a change is only proposed. Every failure of the model or the environment becomes an error
        result. Raises `QuestionPending`; any other exception is a bug in a tool.
        """
        tool = self._find(call.name)
        if tool is None:
            return fail(self._describe_unknown(call.name))
        if call.name in self._off or call.name in self._off_now:
            return fail(f"`{call.name}` is switched off here; `/tools` switches it on.")
        try:
            schema = tool.spec.schema
            arguments, empty = read_leniently(call.arguments, _compile(tool.spec), schema)
        except ToolArgumentError as error:
            return fail(f"`{call.name}` was not run: {end_sentence(error)}")
        except CoreError as error:
            return fail(f"`{call.name}` failed: {end_sentence(error)}")
        rules = self._rules
        if rules and (refusal := rules.admit(call.name, is_from_code=context.is_from_code)):
            return fail(f"`{call.name}` was not run: {end_sentence(refusal)}")
        result, has_run = await self._run_admitted(tool, call, arguments, context, begin, pause)
        if rules:
            rules.note(call.name, has_succeeded=has_run and not result.is_error)
        if has_run and empty:
            return replace(result, text=f"{result.text}{_note_empty(empty)}")
        return result

    async def _run_admitted(
        self,
        tool: Tool,
        call: ToolCallPart,
        arguments: Mapping[str, object],
        context: ToolContext,
        begin: Begin | None,
        pause: Pause,
    ) -> tuple[ToolResult, bool]:
        """Run a call that the rules admit; return its result, and whether it was run."""
        try:
            permit = await self._gate.check(tool, call, arguments, context, pause)
        except ToolArgumentError as error:
            return fail(f"`{call.name}` was not run: {end_sentence(error)}"), False
        except CoreError as error:
            return fail(f"`{call.name}` failed: {end_sentence(error)}"), False
        if isinstance(permit, ToolResult):
            return permit, False
        late = begin if self.begins_late(call.name) else None
        place = (
            tool.hold_place(arguments, context, pause)
            if isinstance(tool, HoldsPlace)
            else nullcontext()
        )
        async with place:
            if stopped := await self._gate.confirm(permit, tool, arguments, context, late):
                return stopped, False
            now = replace(context, is_offline=permit.is_offline)
            return await self._do(tool, call, arguments, now), True

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
        sources = result.sources
        if declared.is_untrusted and not (sources or result.is_error):
            sources = (make_source("fetched", call.name),)
        result, limit = await hide_secrets(result, self._cleaner), declared.output_limit
        text = result.text
        where, overflow = "ask for a part", self._setup.overflow
        if len(text) > limit and overflow:
            where = await overflow.keep(text, context) or where
        return replace(result, text=bound(text, limit, where), sources=sources)

    def _describe_unknown(self, name: str) -> str:
        shown = flatten(name, _NAME_LIMIT)
        if not self._tools:
            return f"There is no tool `{shown}`; there are no tools at all."
        known = [name for name in (*self._tools, *self._foreign) if name not in self._off]
        names = ", ".join(f"`{spec.name}`" for spec in self.specs)
        guess = suggest(shown, known)
        return bound(f"There is no tool `{shown}`.{guess} There are: {names}.")


def _compile(spec: ToolSpec) -> Validate:
    try:
        return compile_schema(spec.schema)
    except ValueError as error:
        _log.error("tool %s can't be used: %s", spec.name, error)
        raise CoreError(f"the tool itself is broken, don't call it again; {error}") from error


def _note_empty(names: Sequence[str]) -> str:
    listed = ", ".join(f"`{name}`" for name in names)
    return f"\n[Left out, because empty: {listed}]"


def _describe_timeout(tool: Tool, seconds: float) -> str:
    doubt = (
        " It is not known whether it took effect: check before repeating it."
        if tool.effect == "unsafe"
        else " Ask for less at once, or take another way."
    )
    return f"`{tool.spec.name}` was stopped: it took longer than {seconds:g} s.{doubt}"
