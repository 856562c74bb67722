"""Settings: sources, their order, and a sentence for every mistake."""

import tomllib
from pathlib import Path

import pytest
from pydantic import ValidationError

from agent_core.tools.policy.verdicts import Rule
from agent_core.tools.selection.call_rules import CallRule
from gateway.app.settings import TABLES, Settings, list_unknown_variables, load
from gateway.app.settings_check import SECRET_VARIABLES
from gateway.app.tool_rules import NamedBackend
from gateway.errors import SettingsError
from gateway.media.voices.installed import can_hear, can_speak

EXAMPLE = Path(__file__).parents[3] / "config.example.toml"


def read(home: Path, toml: str | bytes = "", **environ: str) -> Settings:
    home.joinpath("config.toml").write_bytes(toml if isinstance(toml, bytes) else toml.encode())
    return load(environ, home=home)


def complaint(home: Path, toml: str | bytes = "", **environ: str) -> str:
    with pytest.raises(SettingsError) as caught:
        read(home, toml, **environ)
    sentence = str(caught.value)
    assert sentence.endswith((".", "?"))
    return sentence.replace(str(home / "config.toml"), "FILE")


def test_an_empty_home_gives_the_defaults_and_writes_nothing(tmp_path: Path) -> None:
    settings = load({}, home=tmp_path / "none")
    assert settings.turns.at_once == 400
    assert settings.memory.user_limit == 1375
    assert settings.model.provider == "scripted"
    assert list(tmp_path.iterdir()) == []


def test_the_example_file_holds_every_setting_with_its_default() -> None:
    tree = tomllib.loads(EXAMPLE.read_text())
    written = {(table, key): value for table, rows in tree.items() for key, value in rows.items()}
    defaults = {
        (table, key): list(value) if isinstance(value, tuple) else value
        for table, model in TABLES.items()
        for key, value in model()
    }
    assert written == defaults
    assert list(tree) == list(TABLES)


def test_the_example_file_is_accepted(tmp_path: Path) -> None:
    assert read(tmp_path, EXAMPLE.read_bytes()) == load({}, home=tmp_path)


def test_the_file_sets_and_the_environment_wins(tmp_path: Path) -> None:
    toml = "[turns]\nat_once = 7\nper_person = 2\n[log]\nfile = false\n"
    settings = read(tmp_path, toml, TALARIA_TURNS__AT_ONCE="9", TALARIA_MODEL__NAME="big")
    assert (settings.turns.at_once, settings.turns.per_person) == (9, 2)
    assert settings.log.file is False
    assert settings.model.name == "big"


def test_every_setting_can_be_set_by_a_variable(tmp_path: Path) -> None:
    schemas = {table: model.model_json_schema()["properties"] for table, model in TABLES.items()}
    for table, key in ((owner, key) for owner in TABLES for key in TABLES[owner].model_fields):
        schema = schemas[table][key]
        texts = {"boolean": "off", "integer": "300", "number": "7.5", "string": "en", "array": "a"}
        text = texts[schema["type"]]
        if "maximum" in schema:
            text = f"{min(max(float(text), schema['minimum']), schema['maximum']):g}"
        elif "enum" in schema:
            text = schema["enum"][-1]
        text = {
            "allow": "telegram:1, console:local",
            "prices": "m in=1 out=2 date=2026-11-01",
            "rules": "deny terminal rm *",
            "limits": "web_search 3",
            "backends": "ada local",
            "named_backends": "box local memory_mb=500",
            "docker_mounts": "/srv:/data",
            "local_ports": "11434, 18080",
            "bind": "::1",
            "http_bind": "::1",
            "public_url": "https://talaria.example.org",
            "endpoint": "http://127.0.0.1:4318",
            "time_zone": "Asia/Tokyo",
            "folder": str(tmp_path),
            "s3": "s3://box/prefix",
            "s3_endpoint": "https://s3.example",
            "searxng_url": "https://search.example",
            "github_url": "https://github.example/api/v3",
            "backend": "local",
            "transcription": "",
            "speech": "",
            "provider": "scripted" if table == "model" else "honcho",
        }.get(key, text)
        server = {
            "HONCHO_BASE_URL": "http://127.0.0.1:9",
            "TAVILY_API_KEY": "tvly-only-a-test",
            "AWS_ACCESS_KEY_ID": "id",
            "AWS_SECRET_ACCESS_KEY": "only-a-test",
            **({"OPENAI_API_KEY": "sk-only-a-test"} if table == "images" else {}),
        }
        loaded = load({f"TALARIA_{table}__{key}".upper(): text, **server}, home=tmp_path)
        value = getattr(getattr(loaded, table), key)
        items = tuple(item.strip() for item in text.split(","))
        expected = {"boolean": False, "string": text, "array": items}.get(schema["type"])
        if key == "limits":
            expected = (CallRule(tool="web_search", most_per_turn=3),)
        if key == "backends":
            expected = (("ada", "local"),)
        if key == "named_backends":
            expected = (NamedBackend(name="box", kind="local", options=(("memory_mb", "500"),)),)
        if key == "rules":
            expected = (Rule(effect="deny", tool="terminal", pattern="rm *"),)
        assert value == (float(text) if expected is None else expected), (table, key)
        assert type(value) is type(getattr(TABLES[table](), key))


def test_a_word_of_a_fixed_list_may_have_any_case(tmp_path: Path) -> None:
    """In the file and in the environment, for each setting with such a list."""
    known: list[tuple[str, str, str]] = [
        ("model", "provider", "scripted"),
        ("memory", "provider", "honcho"),
    ]
    for table, model in TABLES.items():
        for key, schema in model.model_json_schema()["properties"].items():
            known += [(table, key, word) for word in schema.get("enum", ()) if word]
    assert ("log", "level", "info") in known
    for table, key, word in known:
        for text in (word.upper(), word.title(), f" {word.upper()} "):
            given = TABLES[table].model_validate({key: text.strip()})
            assert getattr(given, key) == word, (table, key)
            if key not in (
                "search",
                "backend",
                "transcription",
                "speech",
                "docker_program",
            ):  # need others
                variable = f"TALARIA_{table}__{key}".upper()
                loaded = read(tmp_path, HONCHO_BASE_URL="http://127.0.0.1:9", **{variable: text})
                assert getattr(getattr(loaded, table), key) == word, variable


def test_a_list_in_a_variable_is_separated_by_commas(tmp_path: Path) -> None:
    loaded = load({"TALARIA_ACCESS__ALLOW": " telegram:1 ,, discord:22 "}, home=tmp_path)
    assert loaded.access.allow == ("telegram:1", "discord:22")
    toml = '[access]\nallow = ["*"]'
    assert read(tmp_path, toml, TALARIA_ACCESS__ALLOW="").access.allow == ()


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("rclone, rcat,box:{name}", ("rclone", "rcat", "box:{name}")),
        ('["rclone", "rcat", "box:{name}"]', ("rclone", "rcat", "box:{name}")),
        (' ["sh", "-c", "cat >a,b"] ', ("sh", "-c", "cat >a,b")),
        ("[]", ()),
        ("[a, b]", ("[a", "b]")),
        ("[1, 2]", ("[1", "2]")),
    ],
)
def test_a_list_in_a_variable_has_commas_or_is_json(
    tmp_path: Path, text: str, items: tuple[str, ...]
) -> None:
    assert read(tmp_path, "", TALARIA_BACKUP__COMMAND=text).backup.command == items


@pytest.mark.parametrize(
    ("toml", "sentence"),
    [
        ('[modle]\nname = "x"', "FILE: the table [modle] is not known; did you mean model?"),
        ('[model]\nnmae = "x"', "FILE: model.nmae is not known; did you mean model.name?"),
        (
            "[model]\ndrain_seconds = 1",
            "FILE: model.drain_seconds is not known; did you mean turns.drain_seconds?",
        ),
        ("[memory]\nxyzzy = 1", "known are memory.memory_limit, memory.provider, "),
        ('model = "x"', "FILE: model must be a table, written as [model]."),
        ("[[model]]", "FILE: model must be a table, written as [model]."),
        ("at_once = 3", "FILE: at_once stands outside of a table; it belongs under [turns]."),
        ("colour = 3", "every setting belongs into a table."),
        ('[turns]\nat_once = "3"', 'must be a whole number from 1 to 10000, but is "3".'),
        ("[turns]\nat_once = 0", "must be a whole number from 1 to 10000, but is 0."),
        ("[turns]\nat_once = 1.5", "but is 1.5."),
        ("[turns]\nat_once = true", "but is true."),
        ("[turns]\nat_once = []", "but is a list."),
        ("[turns.at_once]", "but is a table."),
        ("[turns]\nat_once = 2026-11-21", "but is a date or time."),
        ("[turns]\nmax_cost_usd = nan", "must be a number from 0 to 10000, but is nan."),
        ("[turns]\nmax_cost_usd = 1e-9", "must be 0 for no limit, or 0.000001 or more, but is"),
        ("[cost]\nperson_day_usd = 1e-7", "must be 0 for no limit, or 0.000001 or more, but is"),
        ("[cost]\nhouse_day_usd = 4e-7", "must be 0 for no limit, or 0.000001 or more, but is"),
        ("[log]\nfile = 1", "FILE: log.file must be true or false, but is 1."),
        ("[model]\nname = 5", "FILE: model.name must be a text, but is 5."),
        ('[model]\nname = "a\\u0000"', "a text without NUL characters."),
        ('[log]\nlevel = "loud"', 'one of "debug", "info", "warning", "error", but is "loud".'),
        ('[access]\nallow = "*"', 'must be a list of texts, but is "*".'),
        (
            '[digest]\nallow_hosts = ["http://nas"]',
            "must be a host, with or without a port, such as",
        ),
        (
            '[digest]\nallow_hosts = ["10.0.0.0/8"]',
            "must be a host, with or without a port, such as",
        ),
        ("[access]\nallow = [1]", "must be a list of texts, but contains 1."),
        ("[access]\nallow = ['*', []]", "must be a list of texts, but contains a list."),
        ('[access]\nallow = ["bob"]', 'for instance "telegram:123456789"'),
        ('[access]\nallow = ["telegram:@bob"]', "not the name"),
        ('[people]\ntime_zone = "Mars/Base"', '"Europe/Berlin"'),
        ('[people]\nlanguage = "english please"', "language tag"),
        ('[http]\nbind = "everywhere"', "IP address"),
        ('[digest]\ngithub_url = "github"', "https://api.github.com"),
        ('[prompt]\ncontext_files = ["../x"]', "inside the folder"),
        ('[prompt]\nfolder = "nowhere"', "which is not a folder."),
        ('[prompt]\nfolder = "~nobody-here"', "prompt.folder can't be used: there is no home"),
        ('[backup]\nfolder = "~nobody-here"', "backup.folder can't be used: there is no home"),
        ("[turns\n", "FILE, line 1, column 7: "),
        ("[turns]\nat_once = 5\nat_once =", "FILE, at its end: "),
        (b'[log]\nlevel = "\xff"', "FILE, line 2: this is not UTF-8 text."),
        ('[model]\nprovider = "anthropic"', "but ANTHROPIC_API_KEY is not set."),
        ('[model]\nprovider = "openai"', "neither OPENAI_API_KEY nor OPENAI_BASE_URL is set."),
        ('[tools]\nsearch = "searxng"', "but tools.searxng_url is not set."),
        ('[tools]\nsearch = "brave"', "but BRAVE_API_KEY is not set."),
        ('[tools]\nsearch = "tavily"', "but TAVILY_API_KEY is not set."),
        ('[tools]\nsearch = "google"', "must be"),
        ('[tools]\nsearxng_url = "search.lan"', "must be an address such as"),
        ('[tools]\nbackend = "docker"', "backend is docker, but tools.docker_image is not set."),
        ('[tools]\nbackend = "ssh"', "backend is ssh, but tools.ssh_host is not set."),
        ('[tools]\nbackend = "daytona"', "backend is daytona, but DAYTONA_API_KEY is not set."),
        ('[tools]\ndocker_mounts = ["data:/data"]', "a folder of this machine and its place"),
        ('[tools]\ndocker_mounts = ["/srv:/proc/x"]', "and not below /workspace, /proc"),
        ('[tools]\ndocker_mounts = ["/srv:/a/../dev"]', "and not below /workspace, /proc"),
        ('[tools]\ndocker_mounts = ["/:/all"]', "Talaria's own files are there."),
        ('[tools]\ndocker_mounts = ["/run/docker.sock:/s"]', "it controls this machine."),
        ('[tools]\nbackend = "modal"', "backend is modal, but MODAL_TOKEN_ID is not set."),
        (
            '[tools]\nbackend = "ssh"\nssh_host = "x"\nnetwork_people = ["ada"]',
            "works only with the local backend, and ada has ssh",
        ),
        (
            (
                '[tools]\nnetwork_people = ["ada"]\ndocker_image = "x"\n'
                '[[tools.backends]]\nperson = "ada"\nbackend = "docker"'
            ),
            "works only with the local backend, and ada has docker",
        ),
        ('[[tools.backends]]\nperson = "ada"\nbackend = "ssh"', "but tools.ssh_host is not set."),
        (
            '[[tools.backends]]\nperson = "ada"\nbackend = "dokcer"',
            "There is no backend dokcer; there are local, docker, ssh,",
        ),
        (
            '[[tools.backends]]\nbackend = "local"',
            "in table 1, exactly one of person, job and skill is needed",
        ),
        (
            '[[tools.backends]]\njob = "a"\nskill = "b"\nbackend = "local"',
            "in table 1, exactly one of person, job and skill is needed",
        ),
        ('[[tools.backends]]\nskill = ""\nbackend = "local"', "in table 1, skill is empty"),
        ('[[tools.backends]]\nfor = "ada"', "in table 1, the key for is not known"),
        (
            (
                '[[tools.backends]]\nperson = "a"\nbackend = "local"\n'
                '[[tools.backends]]\nperson = "a"\nbackend = "local"'
            ),
            "two of them are about a",
        ),
        ("[tools]\nbackends = 5", "must be tables"),
        ('[tools]\nnetwork_hosts = ["https://pypi.org"]', 'must be a host such as "example.org"'),
        ('[memory]\nprovider = "honcho"', "neither HONCHO_API_KEY nor HONCHO_BASE_URL is set."),
    ],
)
def test_an_error_in_the_file_is_one_sentence(
    tmp_path: Path, toml: str | bytes, sentence: str
) -> None:
    assert sentence in complaint(tmp_path, toml)


@pytest.mark.parametrize(
    ("variable", "text", "sentence"),
    [
        ("TALARIA_TURNS__AT_ONCE", "many", 'from 1 to 10000, but is "many".'),
        ("TALARIA_TURNS__AT_ONCE", "", 'from 1 to 10000, but is "".'),
        ("TALARIA_TURNS__AT_ONCE", "99999", "from 1 to 10000, but is 99999."),
        ("TALARIA_LOG__FILE", "maybe", 'must be true or false, but is "maybe".'),
        ("TALARIA_LOG__LEVEL", "x" * 500, "…"),
        ("TELEGRAM_BOT_TOKEN", "123:abc\ndef", "TELEGRAM_BOT_TOKEN holds a space, a line break"),
        ("OPENAI_BASE_URL", "localhost:11434", "must be an address that starts with http://"),
        ("DISCORD_GATEWAY_URL", "http://x", "must be an address that starts with ws://"),
    ],
)
def test_an_error_in_the_environment_is_one_sentence(
    tmp_path: Path, variable: str, text: str, sentence: str
) -> None:
    said = complaint(tmp_path, **{variable: text})
    assert variable in said
    assert sentence in said
    assert len(said) < 300


@pytest.mark.parametrize(
    ("variable", "near"),
    [
        ("TALARIA_TURNS__AT_ONC", "did you mean TALARIA_TURNS__AT_ONCE?"),
        ("TALARIA_MODEL_NAME", "did you mean TALARIA_MODEL__NAME?"),
        ("TALARIA_MODEL", "did you mean TALARIA_"),
        ("TALARIA_ENVIRON", "did you mean TALARIA_"),
        ("TALARIA_SECRETS__GITHUB_TOKEN", "did you mean TALARIA_DIGEST__GITHUB_URL?"),
        ("TALARIA_turns__at_once", "did you mean TALARIA_TURNS__AT_ONCE?"),
        ("TALARIA_XYZZY_PLUGH", "did you mean TALARIA_"),
    ],
)
def test_an_unknown_variable_only_warns_and_names_the_nearest(
    tmp_path: Path, variable: str, near: str
) -> None:
    environ = {variable: "3"}
    assert load(environ, home=tmp_path).turns == load({}, home=tmp_path).turns
    (warning,) = list_unknown_variables(environ)
    assert warning.startswith(f"The variable {variable} is not known and has no effect; {near}")


def test_known_variables_are_not_warned_of(tmp_path: Path) -> None:
    environ = {"TALARIA_HOME": "x", "TALARIA_TURNS__AT_ONCE": "3", "PATH": "", "GITHUB_TOKEN": ""}
    assert list_unknown_variables(environ) == []


def test_a_wrong_value_in_the_file_is_refused_even_if_a_variable_replaces_it(
    tmp_path: Path,
) -> None:
    toml = "[turns]\nat_once = 0"
    assert "but is 0." in complaint(tmp_path, toml, TALARIA_TURNS__AT_ONCE="9")


@pytest.mark.parametrize(
    ("toml", "variable"),
    [
        ('telegram_bot_token = "S"', "TELEGRAM_BOT_TOKEN"),
        ('[telegram]\ntoken = "S"', "TELEGRAM_BOT_TOKEN"),
        ('[telegram]\nbot_token = "S"', "TELEGRAM_BOT_TOKEN"),
        ('[anthropic]\napi_key = "S"', "ANTHROPIC_API_KEY"),
        ('[model]\napi_key = "S"', "ANTHROPIC_API_KEY or OPENAI_API_KEY"),
        ('[model.openai]\nopenai_api_key = "S"', "OPENAI_API_KEY"),
        ('[slack]\napp_token = "S"', "SLACK_APP_TOKEN"),
        ('[telegram]\napi_base_url = "S"', "TELEGRAM_API_BASE_URL"),
        ('[model]\nname = "S"', "the variable of that secret"),
        ('[access]\nallow = ["S"]', "the variable of that secret"),
    ],
)
def test_a_secret_in_the_file_is_refused_with_its_variable(
    tmp_path: Path, toml: str, variable: str
) -> None:
    secret = "123456789:" + "AAbb-_" * 6
    said = complaint(tmp_path, toml.replace("S", secret))
    assert said.endswith(f"remove it here and set {variable}.")
    assert secret not in said


def test_a_secret_put_into_the_wrong_variable_is_not_repeated(tmp_path: Path) -> None:
    secret = "sk-ant-" + "abc123" * 5
    assert secret not in complaint(tmp_path, TALARIA_LOG__LEVEL=secret)


def test_no_secret_is_in_a_repr(tmp_path: Path) -> None:
    environ = dict.fromkeys(SECRET_VARIABLES, "https://canary-of-mine")
    environ["DISCORD_GATEWAY_URL"] = "wss://canary-of-mine"
    settings = load(environ, home=tmp_path)
    assert settings.secrets.anthropic_api_key == "https://canary-of-mine"
    assert "canary" not in repr(settings)


def test_an_empty_secret_counts_as_not_set(tmp_path: Path) -> None:
    assert load({"TELEGRAM_BOT_TOKEN": " "}, home=tmp_path).secrets.telegram_bot_token is None


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, ("scripted", "stand-in", "stand-in")),
        ({"ANTHROPIC_API_KEY": "a"}, ("anthropic", "claude-sonnet-5-5", "claude-haiku-5-5")),
        (
            {"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "b"},
            ("anthropic", "claude-sonnet-5-5", "claude-haiku-5-5"),
        ),
        ({"OPENAI_API_KEY": "b"}, ("openai", "gpt-5-mini", "gpt-5-mini")),
        (
            {"OPENAI_BASE_URL": "http://localhost:11434/v1", "TALARIA_MODEL__NAME": "qwen"},
            ("openai", "qwen", "qwen"),
        ),
        (
            {"ANTHROPIC_API_KEY": "a", "TALARIA_MODEL__PROVIDER": "scripted"},
            ("scripted", "stand-in", "stand-in"),
        ),
    ],
)
def test_the_model_follows_the_key(
    tmp_path: Path, environ: dict[str, str], expected: tuple[str, str, str]
) -> None:
    model = load(environ, home=tmp_path).model
    assert (model.provider, model.name, model.cheap) == expected


def test_the_console_page_is_on_only_where_no_platform_is(tmp_path: Path) -> None:
    assert load({}, home=tmp_path).http.port == 8765
    assert load({"TELEGRAM_BOT_TOKEN": "1:a"}, home=tmp_path).http.port == 0
    assert load({"SLACK_BOT_TOKEN": "xoxb-1"}, home=tmp_path).http.port == 0
    assert load({"TALARIA_HTTP__PORT": "80"}, home=tmp_path).http.port == 80


def test_the_home_is_named_by_argument_then_variable_then_the_user(tmp_path: Path) -> None:
    user = {"HOME": str(tmp_path)}
    assert load(user).home == tmp_path / ".talaria"
    assert load(user | {"TALARIA_HOME": "~/bot"}).home == tmp_path / "bot"
    assert load(user | {"TALARIA_HOME": "~/bot"}, home=tmp_path / "x").home == tmp_path / "x"
    assert load({"TALARIA_HOME": "here"}).home == Path.cwd() / "here"


def test_a_file_as_home_and_a_folder_as_config_are_reported(tmp_path: Path) -> None:
    tmp_path.joinpath("file").touch()
    with pytest.raises(SettingsError, match=r"is a file; TALARIA_HOME has to name a folder\."):
        load({}, home=tmp_path / "file")
    tmp_path.joinpath("config.toml").mkdir()
    with pytest.raises(SettingsError, match=r"config\.toml can't be read: Is a directory\."):
        load({}, home=tmp_path)


def test_a_home_of_an_unknown_user_is_reported() -> None:
    with pytest.raises(SettingsError, match=r"TALARIA_HOME can't be used: .* for ~nobody-here/t\."):
        load({"TALARIA_HOME": "~nobody-here/t"})


def test_a_working_folder_is_taken_from_the_home(tmp_path: Path) -> None:
    tmp_path.joinpath("work").mkdir()
    assert read(tmp_path, '[prompt]\nfolder = "work"').prompt.folder == str(tmp_path / "work")


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    assert read(tmp_path, b"\xef\xbb\xbf[log]\nfile = false").log.file is False


def test_a_whole_number_stands_for_a_fraction(tmp_path: Path) -> None:
    timeout = read(tmp_path, "[model]\ntimeout = 5").model.timeout
    assert timeout == 5.0
    assert isinstance(timeout, float)


def test_control_characters_of_a_value_do_not_reach_the_terminal(tmp_path: Path) -> None:
    assert r'but is "\x1b[31m"' in complaint(tmp_path, '[log]\nlevel = "\\u001b[31m"')


def test_settings_are_frozen(tmp_path: Path) -> None:
    settings = load({}, home=tmp_path)
    with pytest.raises(ValidationError, match="frozen"):
        settings.home = tmp_path  # type: ignore[misc]
    with pytest.raises(ValidationError, match="frozen"):
        settings.turns.at_once = 1  # type: ignore[misc]


def test_transcription_needs_its_settings(tmp_path: Path) -> None:
    server = '[media]\ntranscription = "openai"'
    assert complaint(tmp_path, server) == (
        "media.transcription is openai, but neither OPENAI_API_KEY nor OPENAI_BASE_URL is set."
    )
    read(tmp_path, server, OPENAI_BASE_URL="http://127.0.0.1:8000/v1")
    command = '[media]\ntranscription = "command"\ntranscription_command = '
    assert "does not name one" in complaint(tmp_path, command + '["listen"]')
    loaded = read(tmp_path, command + '["listen", "{file}"]')
    assert loaded.media.transcription_command == ("listen", "{file}")


def test_speech_needs_its_settings(tmp_path: Path) -> None:
    assert "media.speech_command names none" in complaint(tmp_path, '[media]\nspeech = "command"')
    program = 'speech_command = ["say"]'
    assert read(tmp_path, f"[media]\n{program}").media.speaking == "command"
    assert read(tmp_path, f'[media]\nspeech = ""\n{program}').media.speaking == ""


def test_a_local_voice_needs_the_extra(tmp_path: Path) -> None:
    media = read(tmp_path, "").media
    if can_hear() and can_speak():
        assert (media.hearing, media.speaking) == ("local", "local")
    else:
        assert (media.hearing, media.speaking) == ("", "")
        for setting in ("transcription", "speech"):
            told = complaint(tmp_path, f'[media]\n{setting} = "local"')
            assert f"media.{setting} is local, but the extra voice is not installed; run" in told


def test_pictures_need_a_server(tmp_path: Path) -> None:
    named = '[images]\nmodel = "gpt-image-2.5-flare"'
    assert complaint(tmp_path, named) == (
        "images.model is set, but neither OPENAI_API_KEY nor OPENAI_BASE_URL is."
    )
    assert read(tmp_path, named, OPENAI_API_KEY="sk-x").images.model == "gpt-image-2.5-flare"


def test_backends_are_those_of_people_jobs_and_skills(tmp_path: Path) -> None:
    tables = [
        f'[[tools.backends]]\n{key} = "{name}"\nbackend = "local"'
        for key, name in (("person", "ada"), ("job", "Nightly build"), ("skill", "lab"))
    ]
    expected = (("ada", "local"), ("job:Nightly build", "local"), ("skill:lab", "local"))
    assert read(tmp_path, "\n".join(tables)).tools.backends == expected
    variable = "ada local, job:Nightly build local, skill:lab local"
    loaded = load({"TALARIA_TOOLS__BACKENDS": variable}, home=tmp_path)
    assert loaded.tools.backends == expected
