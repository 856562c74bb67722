"""Tools of a program that asks: they run at the program, so that a call of one ends the turn."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from agent_core.tools.contract import Declaration, Effect, ToolContext, ToolResult
from agent_core.tools.results import fail
from agent_core.transcript import Part, ToolResultPart, ToolSpec

PASSED_ON = (
    "Passed on to the program, which has sent no result of it so far. It is not known whether the"
    " program ran it."
)
"""The result of a passed call until the program sends one, and for ever if it never does."""
_PREFIX = "app_"
_ONE = "Not passed on: the program takes one call at a time. Call it again after that result."


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientTools:
    """What a program offers; with `is_serial`, it takes one call at a time."""

    specs: tuple[ToolSpec, ...] = ()
    is_serial: bool = False


NO_CLIENT_TOOLS = ClientTools()


def name_for_model(name: str, own: Collection[str]) -> str:
    """Return the name under which the model sees a program's tool: never one of Talaria's own.

    Names of MCP tools hold two underscores.
    """
    is_taken = name in own or "__" in name or name.startswith(_PREFIX)
    return f"{_PREFIX}{name}" if is_taken else name


def name_for_program(name: str) -> str:
    """Return the program's own name of a tool."""
    return name.removeprefix(_PREFIX)


def is_passed(part: Part) -> bool:
    """True for the result of a call that was passed on."""
    return isinstance(part, ToolResultPart) and part.text == PASSED_ON and not part.is_error


@dataclass(slots=True)
class _Turn:
    """The calls that one turn has passed on."""

    is_serial: bool
    count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientTool:
    """A tool of the program; its call is passed on."""

    spec: ToolSpec
    turn: _Turn = field(repr=False)

    @property
    def effect(self) -> Effect:
        """Nothing happens here, so that a repeated call does no harm."""
        return "read"

    @property
    def declaration(self) -> Declaration:
        """Passing on costs nothing."""
        return Declaration(cost="free")

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Pass a call on."""
        del arguments, context
        if self.turn.is_serial and self.turn.count:
            return fail(_ONE)
        self.turn.count += 1
        return ToolResult(text=PASSED_ON)


def make_client_tools(client: ClientTools, own: Collection[str]) -> list[ClientTool]:
    """Make the tools of one turn, under names that collide with none of Talaria's `own`."""
    turn = _Turn(is_serial=client.is_serial)
    return [
        ClientTool(spec=replace(spec, name=name_for_model(spec.name, own)), turn=turn)
        for spec in client.specs
    ]
