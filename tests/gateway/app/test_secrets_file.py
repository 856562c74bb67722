"""The file of named secrets: who may use which, and every mistake in one sentence."""

from pathlib import Path

import pytest

from gateway.app.settings import load
from gateway.errors import SettingsError
from gateway.home import SECRETS_CONFIG
from gateway.interfaces.cli import secrets
from gateway.interfaces.parser import Parser

VALUE = "canary-0123456789"
GOOD = f'[github]\nvalue = "{VALUE}"\npeople = ["anna"]\n'


def write(home: Path, text: str, mode: int = 0o600) -> dict[str, str]:
    path = home / SECRETS_CONFIG
    path.write_text(text)
    path.chmod(mode)
    return {"TALARIA_HOME": str(home), "HOME": str(home), "PAT": "from-the-environment"}


def test_secrets_are_read_masked_in_the_log_and_listed_without_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = '[bank]\nvariable = "PAT"\npeople = ["anna", "ben"]\nservers = ["one"]\n'
    environ = write(tmp_path, GOOD + more)
    settings = load(environ)
    assert [one.value for one in settings.named_secrets] == ["from-the-environment", VALUE]
    assert VALUE in settings.hidden
    assert VALUE not in repr(settings) + str(settings.model_dump())
    parser = Parser(prog="talaria secrets")
    secrets.configure(parser)
    assert secrets.run(parser.parse_args(["list"]), environ) == 0
    shown = capsys.readouterr().out
    assert shown.splitlines() == [
        "bank: $SECRET_BANK for anna, ben; the MCP servers one.",
        "github: $SECRET_GITHUB for anna.",
    ]


def test_without_the_file_there_are_none(tmp_path: Path) -> None:
    assert load({"TALARIA_HOME": str(tmp_path), "HOME": str(tmp_path)}).named_secrets == ()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (f"[github]\nvalue = {VALUE}\n", "can't be read as TOML"),
        (f'github = "{VALUE}"\n', "github must be a table, written as [github]."),
        (f'[Git-Hub]\nvalue = "{VALUE}"\n', "small letters, digits and underscores."),
        (f'[github]\nvalue = "{VALUE}"\n', "[github] needs people or servers: a list"),
        (f'[github]\nvalue = "{VALUE}"\npeople = []\n', "[github] needs people or servers: a list"),
        ('[github]\nvalue = "short"\npeople = ["anna"]\n', "so that it can be masked."),
        ('[github]\npeople = ["anna"]\n', "needs either value or variable"),
        ('[github]\nvariable = "NONE"\npeople = ["anna"]\n', "NONE, which is not set."),
        (GOOD + 'person = "ben"\n', "unknown key; "),
    ],
)
def test_a_mistake_is_reported_without_the_value(tmp_path: Path, text: str, sentence: str) -> None:
    environ = write(tmp_path, text)
    with pytest.raises(SettingsError) as raised:
        load(environ)
    assert sentence in str(raised.value)
    assert VALUE not in str(raised.value)


def test_a_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    environ = write(tmp_path, GOOD, mode=0o640)
    with pytest.raises(SettingsError, match=r"open to other users \(mode 640\); run `chmod 600 "):
        load(environ)
