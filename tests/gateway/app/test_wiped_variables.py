"""Credentials leave the process's environment, whichever file names their variables."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent_core.tools.secret_scan import SecretMask
from gateway.app.settings import load
from gateway.app.settings_check import SECRET_VARIABLES
from gateway.home import MCP_CONFIG, SECRETS_CONFIG

MCP = """
[servers.web]
url = "https://mcp.example.org"
headers = { Authorization = "Bearer ${WEB_TOKEN}" }

[servers.files]
command = "files"
env = { API_KEY = "$FILES_KEY", ROOT = "$FILES_ROOT", HOME = "$HOME" }
"""
SECRETS = '[github]\nvariable = "GITHUB_PAT"\npeople = ["anna"]\n'
OPTIONS = "talaria-dice.key=$DICE_KEY,talaria-dice.sides=6"
NAMED = ("WEB_TOKEN", "FILES_KEY", "FILES_ROOT", "GITHUB_PAT", "DICE_KEY")
LOOK = """
import os
from pathlib import Path
from gateway.app.settings import load
settings = load(os.environ)
held = Path("/proc/self/environ").read_bytes().decode()
print([name for name in NAMES if f"value-of-{name}" in held or name in os.environ])
print(settings.secrets.brave_api_key, settings.environ["WEB_TOKEN"])
print(os.environ["HOME"] == settings.environ["HOME"])
"""


def prepare(home: Path) -> dict[str, str]:
    """Write the files, and return an environment in which everything is set."""
    (home / MCP_CONFIG).write_text(MCP)
    (home / SECRETS_CONFIG).write_text(SECRETS)
    (home / SECRETS_CONFIG).chmod(0o600)
    secrets = [name for name in SECRET_VARIABLES if not name.endswith("_URL")]
    return {
        **{name: f"value-of-{name}" for name in (*secrets, *NAMED)},
        "TALARIA_HOME": str(home),
        "TALARIA_PLUGINS__OPTIONS": OPTIONS,
        "HOME": str(home),
    }


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_no_named_credential_stays_in_the_environment(tmp_path: Path) -> None:
    environ = {**os.environ, **prepare(tmp_path)}
    names = [*SECRET_VARIABLES, *NAMED]
    done = subprocess.run(
        (sys.executable, "-c", LOOK.replace("NAMES", repr(names))),
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == [
        "[]",
        "value-of-BRAVE_API_KEY value-of-WEB_TOKEN",
        "True",
    ], done.stderr


def test_named_credentials_are_masked_and_other_words_are_not(tmp_path: Path) -> None:
    environ = prepare(tmp_path) | {"FILES_ROOT": "/srv/files"}
    mask = SecretMask(load(environ).hidden)
    for name in ("WEB_TOKEN", "FILES_KEY", "GITHUB_PAT", "DICE_KEY", "OPENAI_API_KEY"):
        assert mask.hide(f"It is value-of-{name}.") == "It is [hidden]."
    assert mask.hide("It is in /srv/files.") == "It is in /srv/files."


def test_a_broken_file_of_servers_prevents_no_start(tmp_path: Path) -> None:
    environ = prepare(tmp_path)
    (tmp_path / MCP_CONFIG).write_text("[servers.web")
    assert load(environ).named_values == ("value-of-DICE_KEY", "value-of-GITHUB_PAT")
