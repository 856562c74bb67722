"""`talaria tools`: beside a running gateway and without one."""

from pathlib import Path

from tests.integration.canaries import fill
from tests.integration.processes import free_port, talaria


async def test_tools_are_switched_off_and_on_for_a_person(tmp_path: Path) -> None:
    home = tmp_path / "home"
    await fill(home)
    done = talaria(home, "tools", "disable", "olga", "terminal")
    assert (done.code, done.out) == (0, "terminal is off for olga.\n"), done.err
    listed = talaria(home, "tools", "list").out
    assert "Off for olga: terminal." in listed
    assert "Off for zebrana" not in listed
    assert talaria(home, "tools", "enable", "olga", "terminal").code == 0
    assert "Off for" not in talaria(home, "tools").out


async def test_a_wrong_tool_or_person_is_refused_with_a_sentence(tmp_path: Path) -> None:
    home = tmp_path / "home"
    await fill(home)
    wrong = talaria(home, "tools", "disable", "olga", "terminl")
    assert wrong.code == 2
    assert "There's no tool called “terminl” here. Did you mean “terminal”?" in wrong.err
    assert "There is no person x" in talaria(home, "tools", "enable", "x", "ask").err


async def test_a_setting_that_names_no_tool_stops_the_start(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text('[tools]\ndisabled = ["terminl"]\n')
    done = talaria(home, "run", TALARIA_HTTP__PORT=str(free_port()))
    assert done.code != 0
    assert "tools.disabled: there is no tool terminl; did you mean terminal?" in done.err
