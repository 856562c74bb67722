"""The cost of a conversation: after the first prompt, almost everything is read from the cache."""

from typing import Any

from tests.agent_core.execution.backends import needs_bubblewrap
from tests.emulators.telegram_cast import ANNA
from tests.journeys.stage import Stage, call, calls

LEAST_CACHED = 0.95


def total(usage: dict[str, Any]) -> int:
    return int(
        usage["input_tokens"]
        + usage["cache_read_input_tokens"]
        + usage["cache_creation_input_tokens"]
    )


async def test_a_conversation_starts_small_and_then_uses_the_cache(
    stage: Stage,
) -> None:
    async with stage.open() as harness:
        for words in ("hello", "how are you?", "what is new?", "tell me more", "thank you"):
            await harness.ask(ANNA, words)
        stage.plan(calls(call("recall", query="hello")), calls(call("recall", query="new")))
        await harness.ask(ANNA, "what did I say?")
        await harness.ask(ANNA, "and before?")
    first, *others = stage.model.usages
    shares = [usage["cache_read_input_tokens"] / total(usage) for usage in others]
    print(
        f"\na bare hello: {total(first)} input tokens; read from the cache afterwards:"
        f" {min(shares):.1%} to {max(shares):.1%}"
        f" (at least {LEAST_CACHED:.0%})"
    )
    assert len(others) == 8
    assert min(shares) >= LEAST_CACHED


async def test_a_restart_and_a_new_conversation_keep_the_cache(stage: Stage) -> None:
    async with stage.open() as harness:
        await harness.ask(ANNA, "hello")
    async with stage.open() as harness:
        await harness.ask(ANNA, "hello again")
        await harness.ask(ANNA, "/new")
        await harness.ask(ANNA, "a fresh talk")
    _, after_restart, after_new = stage.model.usages
    assert after_restart["cache_read_input_tokens"] / total(after_restart) >= LEAST_CACHED
    # Tools and system prompt are the same text, so even a new conversation reads them.
    assert after_new["cache_read_input_tokens"] / total(after_new) >= LEAST_CACHED


async def test_the_status_shows_what_was_read_from_the_cache(stage: Stage) -> None:
    async with stage.open() as harness:
        await harness.ask(ANNA, "hello")
        await harness.ask(ANNA, "hello again")
        reported = await harness.ask(ANNA, "/status")
    assert f"{sum(total(usage) for usage in stage.model.usages):,} tokens read" in reported
    assert "from the cache" in reported
    assert "$0.0" in reported


async def test_changes_of_shared_memory_keep_the_cache(stage: Stage) -> None:
    path = stage.home / "memories" / "team" / "MEMORY.md"
    path.parent.mkdir(parents=True)
    notes = ["Rent is due on Monday"]
    async with stage.open() as harness:
        for number in range(6):
            path.write_text("".join(f"- {note}\n" for note in notes))
            await harness.ask(ANNA, f"and {number}?")
            notes.append(f"Note {number} by somebody else")
    first, *others = stage.model.usages
    assert first["cache_read_input_tokens"] == 0
    shares = [usage["cache_read_input_tokens"] / total(usage) for usage in others]
    assert min(shares) >= LEAST_CACHED
    last = str(stage.model.requests[-1]["messages"])
    for number in range(5):
        assert last.count(f"Note {number} by somebody else") == 1, "told once, and once only"


@needs_bubblewrap
async def test_a_hello_with_everything_enabled_has_eighteen_tools(stage: Stage) -> None:
    stage.home.mkdir(parents=True, exist_ok=True)
    (stage.home / "mcp.toml").write_text(
        '[servers.far]\nurl = "http://127.0.0.1:9/mcp"\nlocal = true\n'
    )
    secrets = stage.home / "secrets.toml"
    secrets.touch(mode=0o600)
    secrets.write_text('[github]\nvalue = "ghp_0123456789"\npeople = ["anna"]\n')
    async with stage.open(TALARIA_TOOLS__BACKEND="local") as harness:
        for words in ("hello", "how are you?", "what is new?"):
            await harness.ask(ANNA, words)
    first, *others = stage.model.usages
    shares = [usage["cache_read_input_tokens"] / total(usage) for usage in others]
    tools = stage.model.requests[0]["tools"]
    print(f"\nwith {len(tools)} tools: {total(first)} tokens, {min(shares):.1%} from the cache")
    assert len(tools) == 18
    assert min(shares) >= LEAST_CACHED
