"""Turn the errors of an SDK and of its connection into a single backend error."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from agent_core.errors import BackendUnavailable

_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Faults:
    """The errors that an SDK raises: `rejected` for a wrong key, which `advice` explains."""

    rejected: tuple[type[Exception], ...]
    advice: str
    others: tuple[type[Exception], ...]

    @asynccontextmanager
    async def of(self, what: str, seconds: float | None) -> AsyncIterator[None]:
        """Raise errors, and a timeout after `seconds`, as `BackendUnavailable`."""
        try:
            async with asyncio.timeout(seconds):
                yield
        except TimeoutError as error:
            raise BackendUnavailable(f"{what} does not answer in time") from error
        except self.rejected as error:
            raise BackendUnavailable(self.advice) from error
        except self.others as error:
            reason = " ".join(str(error).split())[:_SHOWN] or "it gives no reason"
            raise BackendUnavailable(f"{what} does not answer as it should: {reason}") from error
