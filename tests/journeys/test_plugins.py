"""Plug-ins of others: the example is built and installed with pip, and a gateway uses it."""

import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from gateway.app import build as app
from gateway.app.external_plugins import ExternalPlugins, discover
from gateway.app.settings import load
from gateway.errors import SettingsError, StartError
from tests.architecture.source import ROOT
from tests.emulators.telegram_cast import ANNA
from tests.integration.processes import talaria
from tests.journeys.stage import Stage, call, calls, results

pytestmark = pytest.mark.process
EXAMPLE = ROOT / "examples" / "talaria-example"
PIP = (sys.executable, "-m", "pip", "install", "--disable-pip-version-check")
UV = ("uv", "pip", "install", "--python", sys.executable)
"""Takes the place of pip in an environment that uv made, because that has no pip."""
ENABLED = {"TALARIA_PLUGINS__ENABLED": "talaria-example"}
OPTIONS = "talaria-example.sides=20,talaria-example.folder=$LETTERS"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, built and installed into a folder with pip, without network."""
    folder = tmp_path_factory.mktemp("example")
    source = shutil.copytree(EXAMPLE, folder / "source")
    done = subprocess.run(
        [
            *(PIP if find_spec("pip") else UV),
            "--quiet",
            *("--no-deps", "--no-index", "--no-build-isolation"),
            *("--target", str(folder / "plugins"), str(source)),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder / "plugins"


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Forget the modules that an earlier test imported."""
    path = list(sys.path)
    yield
    sys.path[:] = path
    for name in list(sys.modules):
        if name.partition(".")[0] in ("talaria_example", "broken_one"):
            del sys.modules[name]


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory, installed: Path) -> Path:
    """A home with the example in its plug-in folder."""
    home = tmp_path_factory.mktemp("h")
    shutil.copytree(installed, home / "plugins")
    return home


def environ(home: Path, **variables: str) -> dict[str, str]:
    return {
        "TALARIA_HOME": str(home),
        "LETTERS": str(home / "letters"),
        "TALARIA_PLUGINS__OPTIONS": OPTIONS,
        **variables,
    }


def write_plugin(home: Path, name: str, points: str, code: str) -> None:
    """Write a package to the home, as pip installs it."""
    folder = home / "plugins"
    module = name.replace("-", "_")
    folder.joinpath(f"{module}.py").write_text(textwrap.dedent(code))
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir(parents=True)
    info.joinpath("METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    info.joinpath("entry_points.txt").write_text(textwrap.dedent(points))


async def test_a_gateway_runs_with_every_kind_of_the_example(stage: Stage, installed: Path) -> None:
    shutil.copytree(installed, stage.home / "plugins")
    letters = stage.home / "letters"
    settings = ENABLED | {
        "LETTERS": str(letters),
        "TALARIA_PLUGINS__OPTIONS": OPTIONS,
        "TALARIA_MEMORY__PROVIDER": "notebook",
    }
    async with stage.open(awaited=("console", "telegram", "letterbox"), **settings) as harness:
        stage.plan(calls(call("roll_dice", count=2)), "You rolled.")
        assert await harness.ask(ANNA, "roll two dice") == "You rolled."
        assert results(stage.turns[-1])[0].startswith("Rolled ")
        letters.joinpath("ada.1.in").write_text("hello by letter")
        await harness.until(lambda: list(letters.glob("ada.*.out")))
        (answer,) = letters.glob("ada.*.out")
        await harness.until(lambda: answer.read_text() == "echo: hello by letter")
        assert not letters.joinpath("ada.1.in").exists()
        assert harness.gateway.external_memory is not None
        skills = harness.gateway.home_skills.catalog.list_all()
        assert "tidy-up" in {one.name for one in skills}


async def test_a_plugin_model_answers(stage: Stage, installed: Path) -> None:
    shutil.copytree(installed, stage.home / "plugins")
    settings = ENABLED | {
        "LETTERS": str(stage.home / "letters"),
        "TALARIA_PLUGINS__OPTIONS": OPTIONS,
        "TALARIA_MODEL__PROVIDER": "parrot",
        "TALARIA_MODEL__NAME": "grey",
    }
    async with stage.open(**settings) as harness:
        assert "Parrot: hello bird" in await harness.ask(ANNA, "hello bird")
        assert stage.turns == []


def test_nothing_is_imported_that_is_not_enabled(home: Path) -> None:
    write_plugin(
        home, "broken-one", "[talaria.tools]\nx = broken_one:create\n", "raise SystemExit('no')"
    )
    done = talaria(home, "plugins", "list", **environ(home))
    assert done.code == 0, done.err
    assert "broken-one 1.0 (in the home): off" in done.out
    assert "talaria-example 1.0.0 (in the home): off" in done.out
    assert "  platforms: letterbox" in done.out
    assert "None is loaded: plugins.enabled names those that are." in done.out
    settings = load(environ(home))
    assert ExternalPlugins(settings).load_tools() == ()
    assert "talaria_example" not in sys.modules
    assert str(home / "plugins") not in sys.path


def test_the_list_shows_what_is_enabled(home: Path) -> None:
    done = talaria(home, "plugins", "list", **environ(home, **ENABLED))
    assert done.code == 0, done.out + done.err
    assert "talaria-example 1.0.0 (in the home): on" in done.out
    checked = talaria(home, "check", **environ(home, **ENABLED))
    assert "talaria-example 1.0.0" in checked.out


def test_an_empty_list_says_so(tmp_path: Path) -> None:
    done = talaria(tmp_path / "home", "plugins", "list")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[1].startswith("No plug-in is installed")


NO_API = "def create(options):\n    return []\n"
FUTURE = f"TALARIA_API = 2\n{NO_API}"
RAISES = "TALARIA_API = 1\n1 / 0\n"
HALF = "TALARIA_API = 1\ndef create(options):\n    return [object()]\n"
REFUSES = "TALARIA_API = 1\ndef create(options):\n    raise ValueError('sides is missing')\n"
TOOL = "[talaria.tools]\nx = broken_one:create\n"


@pytest.mark.parametrize(
    ("points", "code", "reason"),
    [
        (
            TOOL,
            NO_API,
            "made for no stated version of the plug-in interface, and this is version 1",
        ),
        (TOOL, FUTURE, "made for version 2 of the plug-in interface, and this is version 1"),
        (TOOL, RAISES, "can't be loaded (ZeroDivisionError: division by zero)"),
        (TOOL, HALF, "x has no spec, effect, declaration, run"),
        (TOOL, REFUSES, "x can't be created (ValueError: sides is missing)"),
        ("[talaria.tools]\nx = broken_one:missing\n", HALF, "can't be loaded (AttributeError"),
        ("[talaria.models]\nanthropic = broken_one:create\n", HALF, "Talaria itself has anthropic"),
        ("[talaria.platforms]\nslack = broken_one:create\n", HALF, "Talaria itself has slack"),
    ],
)
def test_a_broken_plugin_is_reported_in_a_sentence(
    home: Path, points: str, code: str, reason: str
) -> None:
    write_plugin(home, "broken-one", points, code)
    given = environ(home, TALARIA_PLUGINS__ENABLED="broken-one")
    listed = talaria(home, "plugins", "list", **given)
    assert listed.code == 1
    assert "broken-one 1.0 (in the home): broken" in listed.out
    assert reason in listed.out
    assert "Traceback" not in listed.out + listed.err
    checked = talaria(home, "check", **given)
    assert checked.code == 2
    assert reason in checked.out


async def test_a_broken_plugin_keeps_the_gateway_from_starting(home: Path) -> None:
    write_plugin(home, "broken-one", TOOL, HALF)
    given = environ(home, TALARIA_PLUGINS__ENABLED="broken-one", TALARIA_MODEL__PROVIDER="scripted")
    with pytest.raises(StartError, match=r"The plug-in broken-one can't be used: x has no spec"):
        await app.run(load(given), stop=None)  # type: ignore[arg-type]


def test_two_plugins_with_one_name_collide(home: Path) -> None:
    write_plugin(home, "broken-one", "[talaria.models]\nparrot = broken_one:create\n", HALF)
    given = environ(home, TALARIA_PLUGINS__ENABLED="talaria-example,broken-one")
    with pytest.raises(StartError, match=r"broken-one has parrot among its models, too"):
        ExternalPlugins(load(given)).load_model("parrot")


def test_a_tool_with_the_name_of_another_is_refused(home: Path) -> None:
    code = """
    TALARIA_API = 1
    from talaria_example.tools import create
    """
    write_plugin(home, "broken-one", TOOL, code)
    given = environ(home, TALARIA_PLUGINS__ENABLED="talaria-example,broken-one")
    with pytest.raises(StartError, match=r"another plug-in has a tool roll_dice, too"):
        ExternalPlugins(load(given)).load_tools()


def test_unknown_names_and_options_are_reported(home: Path) -> None:
    with pytest.raises(StartError, match=r"talaria-exmaple.*did you mean talaria-example\?"):
        ExternalPlugins(load(environ(home, TALARIA_PLUGINS__ENABLED="talaria-exmaple")))
    given = environ(home, **ENABLED, TALARIA_PLUGINS__OPTIONS="sides=20")
    with pytest.raises(StartError, match=r'an option looks like "talaria-dice\.sides=20"'):
        ExternalPlugins(load(given))
    given = environ(home, **ENABLED, TALARIA_PLUGINS__OPTIONS="talaria-example.sides=$NO_SUCH")
    with pytest.raises(StartError, match="needs the variable NO_SUCH"):
        ExternalPlugins(load(given))
    with pytest.raises(SettingsError, match=r'model\.provider is "parrt"'):
        load(environ(home, TALARIA_MODEL__PROVIDER="parrt"))
    assert [one.name for one in discover(home)] == ["talaria-example"]
