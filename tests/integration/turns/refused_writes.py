"""Writes that the store refuses."""

from collections.abc import Awaitable, Callable

from tests.integration.harness import Harness


async def refuse(harness: Harness, name: str, event: str) -> Callable[[], Awaitable[None]]:
    """Make the store fail for a write, like a full disk; returns a function that ends it."""
    trigger = f"CREATE TRIGGER {name} BEFORE {event} BEGIN SELECT RAISE(ABORT, 'no'); END"
    database = harness.gateway.database
    await database.write("test", lambda c: c.execute(trigger))

    async def relent() -> None:
        await database.write("test", lambda c: c.execute(f"DROP TRIGGER {name}"))

    return relent
