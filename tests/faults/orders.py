"""How a gateway is started: its home, its environment, and where it kills itself."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One start of the gateway.

    `kills` are points at which it kills itself, each `PHASE:NAME:COUNT` with the count-th
    passing: `begin:turns.settle:1`, `committed:inbox.store:2`, `tool:before:1`. From `epoch`
    on (milliseconds since 1970) its clock runs `speed` times as fast as others.
    """

    home: str
    environ: dict[str, str]
    kills: tuple[str, ...] = ()
    speed: int = 1
    epoch: int = 0

    @property
    def log(self) -> str:
        """The file for the process's output."""
        return str(Path(self.home) / "output.log")

    def dump(self) -> str:
        """Return it as one line of JSON."""
        return json.dumps(asdict(self)) + "\n"

    @classmethod
    def parse(cls, line: str) -> Self:
        """The reverse of `dump`."""
        fields = json.loads(line)
        return cls(**{**fields, "kills": tuple(fields["kills"])})
