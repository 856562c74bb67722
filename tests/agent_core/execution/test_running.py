"""The commands that a backend keeps until they end."""

from collections.abc import Callable

from agent_core.execution.running import RunningCommands


class Ended:
    """A command that ends when it is killed."""

    def __init__(self) -> None:
        self.on_end: Callable[[], object] = lambda: None

    async def kill(self) -> None:
        self.on_end()


async def test_each_kept_command_is_noted_once_when_it_ends() -> None:
    noted: list[tuple[str, Ended]] = []
    running = RunningCommands[Ended](lambda *ended: noted.append(ended))
    kept, other, unkept = Ended(), Ended(), Ended()
    running.add("anna", kept)
    running.add("ben", other)
    await unkept.kill()
    await running.stop("anna")
    await kept.kill()
    assert noted == [("anna", kept)]
    assert (running.has("anna"), running.has("ben"), running.has("eva")) == (False, True, False)
    await running.stop_all()
    assert noted == [("anna", kept), ("ben", other)]
