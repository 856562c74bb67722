"""The servers of `mcp.toml`: every mistake in a sentence, and no server lost by an edit."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.app.mcp_file import add_mcp_server, read_mcp_servers, remove_mcp_server
from gateway.errors import SettingsError


def read_one(tmp_path: Path, text: str, **environ: str) -> object:
    (tmp_path / "mcp.toml").write_text(f"[servers.one]\n{text}\n", encoding="utf-8")
    (server,) = read_mcp_servers(tmp_path, environ)
    return server


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "needs either `command` or `url`"),
        ('command = "a"\nurl = "https://a.example/"', "needs either `command` or `url`"),
        ("command = 3", "has a wrong `command`: it must be a text"),
        ('command = "a"\nargs = "b"', "has a wrong `args`: it must be a list of texts"),
        ('command = "a"\nenv = {A = 1}', "has a wrong `env`: it must be a table of texts"),
        ('command = "a"\nnetwork = 1', "has a wrong `network`: it must be true or false"),
        (
            'command = "a"\nseconds = 0',
            "has a wrong `seconds`: it must be a whole number from 1 to 3600",
        ),
        ('comand = "a"', "has a key `comand` that is not known; did you mean command?"),
        ('url = "ftp://a.example/"', "has a `url` that is no http or https address"),
        ('url = "https://me:pw@a.example/"', "or holds a password"),
        ('url = "http://a.example/"', "has a `url` without https, which needs `local = true`"),
        ('url = "https://a.example/"\nargs = ["x"]', "has a `url`, so `args` has no meaning"),
        ('command = "a"\nheaders = {A = "b"}', "so `headers` has no meaning"),
        ('command = "a"\nshared_account = true', "so `shared_account` has no meaning"),
        ('url = "https://a.example/"\nshared_account = true', "which needs `oauth = true`"),
        ('command = "a"\nenv = {A = "$GONE"}', "names $GONE in `env`, which is not set"),
        ('command = "a"\nenv = {A = "ghp_' + "a" * 36 + '"}', "has a secret in `env`"),
        ('command = "a"\nreadable = ["/no/such"]', "names /no/such in `readable`"),
        ('command = "a"\nwritable = ["~nobody-here"]', "can't be used: there is no home directory"),
    ],
)
def test_a_mistake_is_reported_in_a_sentence(tmp_path: Path, text: str, fault: str) -> None:
    assert fault in read_one(tmp_path, text).fault  # type: ignore[attr-defined]


def test_no_server_is_shown_the_files_of_talaria(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    for shown in (tmp_path, tmp_path.parent, tmp_path / "link"):
        server = read_one(tmp_path, f'command = "a"\nreadable = ["{shown}"]')
        assert "shows Talaria's own files" in server.fault  # type: ignore[attr-defined]


def test_a_mistake_harms_no_other_server(tmp_path: Path) -> None:
    text = '[servers.bad]\n[servers.good]\ncommand = "cat"\n'
    (tmp_path / "mcp.toml").write_text(text, encoding="utf-8")
    faults = {one.name: bool(one.fault) for one in read_mcp_servers(tmp_path, {})}
    assert faults == {"bad": True, "good": False}


def test_a_variable_is_filled_in_and_hidden(tmp_path: Path) -> None:
    server = read_one(tmp_path, 'command = "a"\nenv = {A = "Bearer ${T}"}', T="word-of-secret")
    assert server.environ == {"A": "Bearer word-of-secret"}  # type: ignore[attr-defined]
    assert server.secrets == ("word-of-secret",)  # type: ignore[attr-defined]
    assert "word-of-secret" not in repr(server)


def test_a_named_secret_is_filled_in_and_hidden_for_its_servers_only(tmp_path: Path) -> None:
    path = tmp_path / "secrets.toml"
    path.write_text('[pat]\nvalue = "word-of-secret"\nservers = ["one"]\n')
    path.chmod(0o600)
    text = 'command = "a"\nenv = {A = "Bearer secret:pat"}'
    server = read_one(tmp_path, text)
    assert server.environ == {"A": "Bearer word-of-secret"}  # type: ignore[attr-defined]
    assert server.secrets == ("word-of-secret",)  # type: ignore[attr-defined]
    path.write_text('[pat]\nvalue = "word-of-secret"\nservers = ["two"]\npeople = ["anna"]\n')
    fault = read_one(tmp_path, text).fault  # type: ignore[attr-defined]
    assert fault == "may not use secret:pat in `env`; see `talaria secrets list`"
    path.chmod(0o644)
    fault = read_one(tmp_path, text).fault  # type: ignore[attr-defined]
    assert fault.startswith("needs secrets, but ")
    assert "chmod 600" in fault


def test_a_server_is_added_and_removed_and_the_rest_stays(tmp_path: Path) -> None:
    before = '# Mine.\n[servers.a]\ncommand = "cat" # why\n\n[servers.a.env]\nB = "c"\n'
    (tmp_path / "mcp.toml").write_text(before, encoding="utf-8")
    add_mcp_server(tmp_path, "b", {"command": "cat", "args": ["[servers.a]"]}, {})
    assert [one.name for one in read_mcp_servers(tmp_path, {})] == ["a", "b"]
    remove_mcp_server(tmp_path, "b")
    assert (tmp_path / "mcp.toml").read_text(encoding="utf-8").strip() == before.strip()
    remove_mcp_server(tmp_path, "a")
    assert (tmp_path / "mcp.toml").read_text(encoding="utf-8").strip() == "# Mine."


@pytest.mark.parametrize(
    "before",
    [
        'servers = { b = { command = "cat" } }\n',
        '[servers.a]\ncommand = """\n[servers.b]\n"""\n[servers.b]\ncommand = "cat"\n',
    ],
    ids=["inline", "a header inside of a text"],
)
def test_a_form_that_can_not_be_changed_safely_is_left_alone(tmp_path: Path, before: str) -> None:
    (tmp_path / "mcp.toml").write_text(before, encoding="utf-8")
    with pytest.raises(SettingsError, match="edit it by hand"):
        remove_mcp_server(tmp_path, "b")
    assert (tmp_path / "mcp.toml").read_text(encoding="utf-8") == before


def test_a_server_that_is_there_is_not_replaced(tmp_path: Path) -> None:
    add_mcp_server(tmp_path, "a", {"command": "cat"}, {})
    with pytest.raises(SettingsError, match="There is a server a already"):
        add_mcp_server(tmp_path, "a", {"command": "dog"}, {})


texts = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]))


@given(args=st.lists(texts), value=texts)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_survives_the_file(tmp_path: Path, args: list[str], value: str) -> None:
    (tmp_path / "mcp.toml").unlink(missing_ok=True)
    table = {"command": "cat", "args": args, "env": {"A": value}}
    try:
        add_mcp_server(tmp_path, "a", table, {})
    except SettingsError:
        assert "$" in value
        return
    found = tomllib.loads((tmp_path / "mcp.toml").read_text(encoding="utf-8"))
    assert found["servers"]["a"] == table
