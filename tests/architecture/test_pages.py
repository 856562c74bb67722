"""What the pages say is so: settings, variables, words, commands, tools, migrations, links."""

import ast
import re
import tomllib
from functools import cache

import pytest

from gateway.app.tables import TurnSettings
from gateway.commands.catalog import COMMANDS, HIDDEN
from tests.architecture.source import ROOT, list_modules
from tests.tables import check_each
from tools import generate_cli_reference, generate_configuration, generate_surfaces

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
LOCKS = sorted(path.name for path in ROOT.glob("requirements*.lock"))
PATH = re.compile(r"`((?:adapters|agent_core|bench|docs|gateway|tests|tools)/[\w./-]+)`")
LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")


@cache
def read(path: str) -> str:
    return ROOT.joinpath(path).read_text()


def anchors(text: str) -> set[str]:
    """The anchors that a page's headings make."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in headings}


def names_given_to(kind: str, folder: str) -> set[str]:
    """The names under which things of a kind are made, as they stand in the code."""
    values = (
        keyword.value
        for module in list_modules((folder,))
        for node in module.nodes
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == kind
        for keyword in node.keywords
        if keyword.arg == "name"
    )
    return {str(value.value) for value in values if isinstance(value, ast.Constant)}


def test_the_configuration_reference_is_current() -> None:
    assert read("docs/configuration.md") == generate_configuration.render_page()
    assert read("config.example.toml") == generate_configuration.render_example()


def test_the_command_line_reference_is_current() -> None:
    assert read("docs/cli.md") == generate_cli_reference.render()


def test_the_table_of_deeds_is_whole_and_current() -> None:
    assert list(generate_surfaces.list_faults()) == []
    assert read("docs/surfaces.md") == generate_surfaces.render()


def test_the_table_of_deeds_misses_nothing_and_names_only_what_exists() -> None:
    groups = {name: deeds[1:] for name, deeds in generate_surfaces.GROUPS.items()}
    faults = list(generate_surfaces.list_faults(groups))
    assert "terminal: jobs add is in no row" in faults
    assert "page: POST /people/invite is in no row" in faults
    assert "api: POST /jobs is in no row" in faults
    assert "mcp: remind is in no row" in faults
    odd = generate_surfaces.Deed(name="x", chat="fly", page="POST /fly", api="GET /fly")
    more = list(generate_surfaces.list_faults({"x": [odd]}))
    assert {"chat: no fly", "page: no POST /fly", "api: no GET /fly"} <= {*more}


def test_the_slash_commands_are_the_documented_ones() -> None:
    table = read("docs/everyday.md").partition("## All commands")[2].partition("\n## ")[0]
    reported = set(re.findall(r"^\| `/([a-z_]+)", table, re.MULTILINE))
    # /claim comes from people who are nobody yet: the router itself reads it, no menu shows it.
    assert reported == {command.name for command in (*COMMANDS, *HIDDEN)} | {"claim"}


@pytest.mark.slow
def test_every_tool_is_named_in_the_docs() -> None:
    docs = "".join(page.read_text() for page in PAGES)
    tools = names_given_to("ToolSpec", "agent_core")
    assert tools
    assert [name for name in tools if f"`{name}`" not in docs] == []


def test_every_migration_is_named_in_the_docs() -> None:
    docs = "".join(page.read_text() for page in PAGES)
    migrations = sorted(ROOT.glob("agent_core/state/migrations/*.sql"))
    assert migrations
    for migration in migrations:
        assert migration.stem in docs, migration.name


OF_THEIR_DAY = ("decisions.md", "measurements.md", "places.md")
"""Their entries name the places of their day; docs/places.md says where those are now."""


def test_every_path_in_the_docs_exists() -> None:
    missing = [
        f"{page.name}: {path}"
        for page in PAGES
        if page.name not in OF_THEIR_DAY
        for path in PATH.findall(page.read_text())
        if not ROOT.joinpath(path).exists() and "results" not in path
    ]
    assert missing == []


LINKING_PAGES = [page.relative_to(ROOT).as_posix() for page in PAGES]


def test_every_link_leads_somewhere() -> None:
    def check(page: str) -> None:
        for target in LINK.findall(read(page)):
            if target.startswith("https://"):
                continue
            path, _, anchor = target.partition("#")
            file = ROOT.joinpath(page).parent.joinpath(path) if path else ROOT.joinpath(page)
            assert file.exists(), target
            assert not anchor or anchor in anchors(file.read_text()), target

    check_each(LINKING_PAGES, check)


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_holds_names_versions_and_hashes_only(lock: str) -> None:
    form = re.compile(
        r"[a-z0-9-]+==[0-9][a-z0-9.+]*( ; [^\\@]+)? \\|    --hash=sha256:[0-9a-f]{64}( \\)?"
    )
    assert [line for line in read(lock).splitlines() if not form.fullmatch(line)] == []


def pins(lock: str) -> set[str]:
    """The packages of a lock file, as `name==version`."""
    return set(re.findall(r"^([a-z0-9-]+==[^ ]+)", read(lock), re.MULTILINE))


def names(requirements: list[str]) -> set[str]:
    """The names of the packages that requirements ask for."""
    found = (re.match(r"[A-Za-z0-9._-]+", requirement) for requirement in requirements)
    return {re.sub(r"[._]", "-", match[0].lower()) for match in found if match}


def test_each_lock_holds_what_it_is_for() -> None:
    project = tomllib.loads(read("pyproject.toml"))
    runtime = names(project["project"]["dependencies"])
    charts = names(project["project"]["optional-dependencies"]["charts"])
    voice = names(project["project"]["optional-dependencies"]["voice"])
    backend = names(project["build-system"]["requires"])
    groups = project["dependency-groups"]
    tools = {
        name
        for group in groups.values()
        for name in names([one for one in group if isinstance(one, str)])
    }
    locked = {lock: {pin.partition("==")[0] for pin in pins(lock)} for lock in LOCKS}
    assert runtime | charts | backend <= locked["requirements.lock"]
    assert locked["requirements.lock"] | tools <= locked["requirements-dev.lock"]
    assert not locked["requirements.lock"] & (tools - backend)
    assert runtime | voice | backend <= locked["requirements-voice.lock"]
    assert not voice & locked["requirements-dev.lock"]  # 0.6 GB that no other test needs
    rl = names(project["project"]["optional-dependencies"]["rl"])
    assert runtime | rl | backend <= locked["requirements-rl.lock"]
    assert not rl & locked["requirements-dev.lock"]


def test_all_locks_agree_on_versions() -> None:
    largest = pins("requirements-dev.lock")
    known = {pin.partition("==")[0] for pin in largest}
    for lock in LOCKS:
        others = {pin for pin in pins(lock) if pin.partition("==")[0] in known} - largest
        held = {"openai", "mcp", "mcp-types"} if lock == "requirements-rl.lock" else set()
        assert {pin.partition("==")[0] for pin in others} <= held, lock  # verifiers holds these


def test_no_file_names_a_registry() -> None:
    hosts = re.compile("pypi" + r"\.org|python" + "hosted|" + r"https?://\S*/" + "simple")
    texts = [
        *("Makefile", "Dockerfile", "compose.yaml", ".ci/run", ".dockerignore", "pyproject.toml"),
        *(*LOCKS, "config.example.toml", "README.md"),
    ]
    assert [name for name in texts if hosts.search(read(name))] == []


def test_the_image_is_made_of_what_is_there_and_let_through() -> None:
    let_through = {line[1:] for line in read(".dockerignore").splitlines() if line.startswith("!")}
    copies = re.findall(r"^COPY (?!--from)(.+) \S+$", read("Dockerfile"), re.MULTILINE)
    sources = {source for copy in copies for source in copy.split()}
    packages = tomllib.loads(read("pyproject.toml"))["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert {*packages["packages"], "pyproject.toml", "requirements.lock"} <= sources
    assert sources == let_through
    assert [source for source in sources if not ROOT.joinpath(source).exists()] == []


def test_the_container_is_given_longer_than_the_turns() -> None:
    grace = re.search(r"stop_grace_period: (\d+)s", read("compose.yaml"))
    assert grace
    assert int(grace[1]) > TurnSettings().drain_seconds


def test_the_check_before_a_landing_can_be_run() -> None:
    assert ROOT.joinpath(".ci/run").stat().st_mode & 0o111
    assert read(".ci/run").startswith("#!/usr/bin/env bash\n")


def test_a_reader_gets_a_copy_before_it_is_installed() -> None:
    for page in ("README.md", "docs/quick-start.md"):
        before, line, after = read(page).partition("`git clone ADDRESS talaria` and `cd talaria`")
        assert line, page
        assert "make run" not in before, page
        assert "make run" in after, page
