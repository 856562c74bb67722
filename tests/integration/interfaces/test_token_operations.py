"""`talaria tokens`: with a running gateway and without one."""

from pathlib import Path

from agent_core.state.engine.database import Database
from gateway.home import DATABASE
from tests.integration.canaries import fill
from tests.integration.processes import talaria, talaria_beside
from tests.integration.served import served


async def test_a_token_is_shown_once_and_only_its_hash_is_kept(tmp_path: Path) -> None:
    home = tmp_path / "home"
    await fill(home)
    assert talaria(home, "tokens", "list").out == "There are no tokens.\n"
    made = talaria(home, "tokens", "create", "laptop", "--person", "olga")
    assert made.code == 0, made.err
    assert made.out.startswith("Token 1, laptop, acts for olga:\n\n  talaria_")
    secret = made.out.split()[6]
    assert len(secret) == len("talaria_") + 43
    database = await Database.open(home / DATABASE)
    rows = await database.read(lambda c: c.execute("SELECT * FROM api_tokens").fetchall())
    await database.close()
    assert secret not in str(rows)
    listed = talaria(home, "tokens", "list").out
    assert listed.startswith("   1  olga: laptop (mcp, made ")
    assert listed.endswith(", never used)\n")
    assert secret not in listed
    assert talaria(home, "tokens", "revoke", "1").out == "Revoked: laptop of olga.\n"
    assert talaria(home, "tokens", "list").out == "There are no tokens.\n"


async def test_what_can_not_be_is_one_clear_sentence(tmp_path: Path) -> None:
    home = tmp_path / "home"
    await fill(home)
    async with served(home):

        async def refusal(*words: str) -> str:
            done = await talaria_beside(home, "tokens", *words)
            assert done.code in (1, 2)
            return done.err

        assert "There is no person x; `talaria people list`" in await refusal(
            "create", "laptop", "--person", "x"
        )
        assert "at most 32 characters" in await refusal("create", "a/b", "--person", "Olga")
        await talaria_beside(home, "tokens", "create", "Laptop", "--person", "olga")
        assert "There is a token “laptop” already." in await refusal(
            "create", "laptop", "--person", "olga"
        )
        assert "There is no token 9; `talaria tokens list`" in await refusal("revoke", "9")
        assert "'x' is not the number of a token" in await refusal("revoke", "x")
