"""Secrets that a person's commands may use by name; the model never sees a value."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from agent_core.errors import ToolArgumentError
from agent_core.tools.policy.contract import Action
from agent_core.tools.secret_scan import SecretMask
from agent_core.tools.text_cleaner import TextCleaner
from agent_core.transcript import flatten

SECRET_PROPERTY: Mapping[str, object] = {
    "type": "array",
    "items": {"type": "string"},
    "description": "names: secret:x is $SECRET_X of a fresh shell; a wrong one lists all",
}
_NAMED = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedSecret:
    """A secret of the owner.

    `people` are the folder names of those whose commands may use it. `servers` are the MCP servers
    that get it.
    """

    name: str
    value: str = field(repr=False)
    people: tuple[str, ...]
    servers: tuple[str, ...] = ()

    @property
    def variable(self) -> str:
        """The variable that holds the value in a command."""
        return f"SECRET_{self.name.upper()}"


class NamedSecrets:
    """The named secrets, and the people who may use each of them."""

    def __init__(self, secrets: Sequence[NamedSecret] = (), hidden: Iterable[str] = ()) -> None:
        """`hidden` are further texts that no output may show."""
        self._by_name = {one.name: one for one in secrets}
        self.cleaner = TextCleaner(SecretMask([*(one.value for one in secrets), *hidden]))
        """Hides the values in every output, before it is stored or shortened."""

    def __bool__(self) -> bool:
        return bool(self._by_name)

    def choose(self, arguments: Mapping[str, object], slug: str) -> tuple[NamedSecret, ...]:
        """Return the secrets that a person's call names.

        Raises `ToolArgumentError` for a name that this person may not use.
        """
        given = arguments.get("secrets")
        if not isinstance(given, list):
            return ()
        mine = {name: one for name, one in self._by_name.items() if slug in one.people}
        names = [str(name).removeprefix("secret:") for name in given]
        for name in names:
            if name not in mine:
                known = ", ".join(f"`{one}`" for one in sorted(mine)) or "none at all"
                raise ToolArgumentError(
                    f"there is no secret `{flatten(name, _NAMED)}` for this person; there are:"
                    f" {known}"
                )
        return tuple(mine[name] for name in dict.fromkeys(names))


def list_uses(secrets: Sequence[NamedSecret]) -> tuple[Action, ...]:
    """Return the use of each secret as an action for the policy."""
    return tuple(
        Action(kind="use", target=f"secret:{one.name}", place=f"${one.variable}") for one in secrets
    )


def make_secret_input(secrets: Sequence[NamedSecret]) -> bytes:
    """Return the secrets as records for a shell of `make_secret_command`.

    They go through a pipe, because other users of the machine can read a program's arguments.
    """
    records = [f"{one.variable}={one.value}" for one in secrets]
    return "".join(f"{record}\0" for record in (*records, "")).encode()
