"""Backends with names of the owner's: what each has of its own, and what is refused."""

import os
from pathlib import Path
from typing import get_args

import pytest

from agent_core.errors import BackendUnavailable
from agent_core.execution.contract import Command
from agent_core.execution.selected import UNKNOWN
from gateway.app.backends import make_backend
from gateway.app.named_backends import (
    apply,
    describe_cost,
    find_backend,
    find_most_seconds,
    list_options,
    list_used,
)
from gateway.app.settings import Settings, load
from gateway.app.tool_rules import BackendName
from gateway.errors import SettingsError
from tests.agent_core.execution.accounts import DaytonaAccount, ModalAccount, open_account
from tests.emulators import daytona, modal

MODAL = {"MODAL_TOKEN_ID": "ak-1", "MODAL_TOKEN_SECRET": "as-1"}
CLUSTER = """
[[tools.named_backends]]
name = "gpu_cluster"
kind = "modal"
image = "registry.example/torch:1"
gpu = "A100-80GB:2"
cpus = 8
memory_mb = 64000
command_seconds = 3000
secrets = ["huggingface"]

[[tools.named_backends]]
name = "small"
kind = "modal"
usd_per_hour = 0.05
"""


def read(folder: Path, text: str, **variables: str) -> Settings:
    (folder / "config.toml").write_text(text)
    return load(variables, home=folder)


def test_two_backends_of_one_kind_differ_in_what_their_tables_say(tmp_path: Path) -> None:
    table = read(tmp_path, f"[tools]\nmodal_region = 'eu'\n{CLUSTER}", **MODAL).tools
    cluster = apply(table, find_backend(table, "gpu_cluster"))
    small = apply(table, find_backend(table, "small"))
    assert (cluster.modal_image, cluster.modal_gpu) == ("registry.example/torch:1", "A100-80GB:2")
    assert (cluster.modal_cpus, cluster.modal_secrets) == (8.0, ("huggingface",))
    assert (cluster.modal_memory_mb, cluster.memory_mb) == (64_000, 64_000)
    assert (cluster.command_seconds, find_most_seconds(table)) == (3000, 3000)
    assert (small.modal_image, small.modal_gpu, small.command_seconds) == ("", "", 300)
    assert cluster.modal_region == small.modal_region == "eu"
    assert apply(table, find_backend(table, "modal")) == table


def test_a_name_stands_where_a_kind_can(tmp_path: Path) -> None:
    settings = read(
        tmp_path,
        f'[tools]\nbackend = "small"\n{CLUSTER}'
        '[[tools.backends]]\njob = "Train"\nbackend = "gpu_cluster"\n'
        '[[tools.backends]]\nskill = "lab"\nbackend = "gpu_cluster"\n'
        '[[tools.backends]]\nperson = "ben"\nbackend = "local"\n',
        **MODAL,
    )
    backend = make_backend(settings)
    assert backend is not None
    assert backend.names == ("small", "local", "gpu_cluster")
    rows = {name: one.name for name, one in backend.purposes.items() if one.name}
    assert {name: one for name, one in rows.items() if not name.startswith("backend:")} == {
        "job:Train": "gpu_cluster",
        "skill:lab": "gpu_cluster",
    }
    assert backend.purposes["job:Train"] is backend.purposes["skill:lab"]
    assert (backend.find_seconds("anna"), backend.find_seconds("ben")) == (300, 300)
    assert backend.purposes["job:Train"].find_seconds("anna") == 3000


async def test_a_skill_reaches_only_what_its_person_may_use(tmp_path: Path) -> None:
    settings = read(
        tmp_path,
        '[tools]\nbackend = "local"\n'
        '[[tools.named_backends]]\nname = "lab"\nkind = "local"\npeople = ["ada", "ben"]\n'
        '[[tools.named_backends]]\nname = "all"\nkind = "local"\npeople = "*"\n'
        '[[tools.named_backends]]\nname = "box"\nkind = "local"\n'
        '[[tools.named_backends]]\nname = "spare"\nkind = "local"\n'
        '[[tools.backends]]\nperson = "ben"\nbackend = "box"\n'
        '[[tools.backends]]\nperson = "cleo"\nbackend = "box"\n',
    )
    assert list_used(settings.tools) == {"local", "lab", "all", "box"}
    backend = make_backend(settings)
    assert backend is not None
    may = {
        "local": {"ada", "dora"},  # the others have a place of their own
        "lab": {"ada", "ben"},
        "all": {"ada", "ben", "cleo", "dora"},
        "box": {"ben", "cleo"},
        "spare": set[str](),
    }
    for name, allowed in may.items():
        place = backend.purposes.get(f"backend:{name}", backend.purposes[UNKNOWN])
        for person in ("ada", "ben", "cleo", "dora"):
            if person in allowed:
                await place.write_file(person, "a", b"1")
                continue
            with pytest.raises(BackendUnavailable) as refused:
                await place.write_file(person, "a", b"1")
            told = "a backend that does not exist" if name == "spare" else f"the backend {name}; an"
            assert told in str(refused.value)
    await backend.close()


def test_a_variable_gives_them_in_words(tmp_path: Path) -> None:
    words = (
        "box docker image=python:3.13-slim gpu=all cpus=2 usd_per_hour=0.5, lab ssh host=lab.lan"
    )
    table = load({"TALARIA_TOOLS__NAMED_BACKENDS": words}, home=tmp_path).tools
    box = apply(table, find_backend(table, "box"))
    assert (box.docker_image, box.docker_gpu, box.docker_cpus) == ("python:3.13-slim", "all", 2.0)
    assert apply(table, find_backend(table, "lab")).ssh_host == "lab.lan"


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ('name = "x"\nkind = "local"\nimage = "y"', "x has image, which the kind local does not"),
        (
            'name = "x"\nkind = "ssh"\nhost = "y"\ngpu = "all"',
            "it has command_seconds, cpu_minutes",
        ),
        ('name = "x"\nkind = "cloud"', "in table 1, there is no kind cloud"),
        ('name = "x"', "in table 1, there is no kind given"),
        ('kind = "local"', "in table 1, name is missing or has other characters"),
        ('name = "GPU box"\nkind = "local"', "name is missing or has other characters"),
        ('name = "modal"\nkind = "local"', "in table 1, modal is a kind; choose another name"),
        ('name = "x"\nkind = "docker"', "The backend x is docker, but image is not set."),
        ('name = "x"\nkind = "ssh"', "The backend x is ssh, but host is not set."),
        ('name = "x"\nkind = "modal"', "The backend x is modal, but MODAL_TOKEN_ID is not set."),
        (
            'name = "x"\nkind = "docker"\nimage = "y"\ncpus = 500',
            "cpus of the backend x must be a number from 0.1 to 256, but is 500.",
        ),
        (
            'name = "x"\nkind = "local"\ncommand_seconds = "long"',
            "command_seconds of the backend x must be a whole number from 5 to 3600, but is",
        ),
        ('name = "x"\nkind = "local"\nusd_per_hour = -1', "usd_per_hour must be a number from 0"),
        ('name = "x"\nkind = "local"\npeople = 5', "people must be a list of folder names"),
        ('name = "x"\nkind = "local"\noptions = 5', "the key options is not known"),
    ],
)
def test_a_wrong_table_is_one_sentence(tmp_path: Path, table: str, sentence: str) -> None:
    with pytest.raises(SettingsError) as refused:
        read(tmp_path, f"[[tools.named_backends]]\n{table}\n")
    assert sentence in str(refused.value)


def test_a_size_at_daytona_needs_an_image(tmp_path: Path) -> None:
    table = '[[tools.named_backends]]\nname = "x"\nkind = "daytona"\ncpus = 4\n'
    with pytest.raises(SettingsError, match="set its image, too"):
        read(tmp_path, table, DAYTONA_API_KEY="k")
    assert read(tmp_path, f'{table}image = "debian:13"\n', DAYTONA_API_KEY="k")


def test_two_of_one_name_and_a_name_that_nobody_has(tmp_path: Path) -> None:
    twice = '[[tools.named_backends]]\nname = "x"\nkind = "local"\n' * 2
    with pytest.raises(SettingsError, match="two of them are named x"):
        read(tmp_path, twice)
    with pytest.raises(SettingsError, match=r"There is no backend y; there are local, .*, x."):
        read(
            tmp_path,
            '[tools]\nbackend = "y"\n[[tools.named_backends]]\nname = "x"\nkind = "local"\n',
        )


def test_every_kind_has_the_limits_of_a_command() -> None:
    for kind in get_args(BackendName):
        assert {"command_seconds", "memory_mb", "processes"} <= set(list_options(kind))
    assert {"image", "gpu", "cpus", "network", "mounts"} <= set(list_options("docker"))


@pytest.mark.parametrize(
    ("table", "cost"),
    [
        ('kind = "local"', "no more than the machine itself"),
        ('kind = "local"\nusd_per_hour = 1.5', "$1.50 an hour, as you say"),
        ('kind = "modal"\ngpu = "H100"\ncpus = 1\nmemory_mb = 1074', "about $4.12 an hour"),
        ('kind = "modal"\ngpu = "t4:2"', "about $1.20 an hour"),
        ('kind = "modal"\ngpu = "Z9000"', "an unknown price; usd_per_hour in its table says it"),
        ('kind = "daytona"', "about $0.07 an hour"),
        ('kind = "daytona"\nimage = "x"\ngpu = 1', "an unknown price"),
    ],
)
def test_what_an_hour_costs(tmp_path: Path, table: str, cost: str) -> None:
    settings = read(
        tmp_path,
        f'[[tools.named_backends]]\nname = "x"\n{table}\n',
        DAYTONA_API_KEY="k",
        **MODAL,
    )
    backend = find_backend(settings.tools, "x")
    assert describe_cost(apply(settings.tools, backend), backend).startswith(cost)


async def begin(settings: Settings) -> None:
    """Let one workspace begin at the backend `box`, which gets what a sandbox is made with."""
    backend = make_backend(settings)
    assert backend is not None
    assert backend.find_seconds("anna") == 1234
    try:
        await backend.write_file("anna", "note", b"kept")
    finally:
        await backend.close()


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.thorough
async def test_what_a_table_says_of_modal_arrives_there(tmp_path: Path) -> None:
    table = """
[tools]
backend = "box"
modal_region = "eu"

[[tools.named_backends]]
name = "box"
kind = "modal"
image = "registry.example/torch:1"
gpu = "A100-80GB:2"
cpus = 4.5
memory_mb = 64000
command_seconds = 1234
secrets = ["huggingface", "wandb"]
network = true
"""
    token = dict(zip(MODAL, modal.TOKEN, strict=True))
    async with open_account("modal", tmp_path / "sandboxes") as account:
        assert isinstance(account, ModalAccount)
        await begin(read(tmp_path, table, **token))
        (sandbox,) = account.emulator.sandboxes.values()
    made = sandbox.definition
    size = made.resources
    assert (size.gpu_config.gpu_type, size.gpu_config.count) == ("A100-80GB", 2)
    assert (size.milli_cpu, size.memory_mb) == (4500, 64_000_000_000 // 2**20)
    assert list(made.secret_ids) == ["st-huggingface", "st-wandb"]
    assert made.image_id == "im-registry.example/torch:1"
    assert list(made.scheduler_placement.regions) == ["eu"]
    assert sandbox.has_network


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.thorough
async def test_what_a_table_says_of_daytona_arrives_there(tmp_path: Path) -> None:
    table = """
[tools]
backend = "box"
daytona_target = "asia"

[[tools.named_backends]]
name = "box"
kind = "daytona"
image = "registry.example/torch:1"
gpu = 1
cpus = 4
memory_mb = 7900
command_seconds = 1234
network = true
"""
    async with open_account("daytona", tmp_path / "sandboxes") as account:
        assert isinstance(account, DaytonaAccount)
        key = {"DAYTONA_API_KEY": daytona.KEY, "DAYTONA_API_URL": account.emulator.url}
        await begin(read(tmp_path, table, **key))
        (sandbox,) = account.emulator.sandboxes.values()
        told = sandbox.told
    assert [told[name] for name in ("cpu", "gpu", "memory")] == [4, 1, 8]
    assert "FROM registry.example/torch:1" in told["buildInfo"]["dockerfileContent"]
    assert (told["target"], told["networkBlockAll"]) == ("asia", False)


@pytest.mark.process
async def test_what_a_table_says_of_docker_is_told_its_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = """
[tools]
backend = "box"

[[tools.named_backends]]
name = "box"
kind = "docker"
image = "python:3.13-slim"
program = "docker"
gpu = "all"
cpus = 4.5
memory_mb = 4000
network = "bridge"
command_seconds = 1234
"""
    program, told = tmp_path / "docker", tmp_path / "told"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {told}\n[ "$1" != run ]\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    backend = make_backend(read(tmp_path, table))
    assert backend is not None
    assert backend.find_seconds("anna") == 1234
    with pytest.raises(BackendUnavailable, match="`docker run` failed"):
        await backend.start(Command(workspace="anna", argv=("true",)))
    await backend.close()
    words = told.read_text().splitlines()
    given = {name: words[words.index(name) + 1] for name in words if name.startswith("--")}
    assert (given["--gpus"], given["--cpus"], given["--memory"]) == ("all", "4.5", "4000000000")
    assert given["--network"] == "bridge"
    assert "python:3.13-slim" in words
