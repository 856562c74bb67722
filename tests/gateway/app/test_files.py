"""The home's `.env` and `config.toml`: read leniently, changed without losing a line."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.app.config_file import change_config
from gateway.app.env_file import change_env, read_env
from gateway.app.settings import load
from gateway.errors import SettingsError


def test_the_environment_wins_over_the_saved_variables(tmp_path: Path) -> None:
    tmp_path.joinpath(".env").write_text(
        "# keys\nexport OPENAI_API_KEY='saved'\nGITHUB_TOKEN=saved\nTALARIA_MODEL__NAME=saved\n"
        "TALARIA_HOME=/elsewhere\n"
    )
    environ = {"TALARIA_HOME": str(tmp_path), "OPENAI_API_KEY": "given", "GITHUB_TOKEN": " "}
    found = load(environ)
    assert (found.secrets.openai_api_key, found.secrets.github_token) == ("given", "saved")
    assert (found.model.name, found.home) == ("saved", tmp_path)
    assert {"given", "saved"} <= set(found.hidden)


@pytest.mark.parametrize("line", ["just words", "NAME", "A='open", "=x"])
def test_a_line_that_is_no_variable_is_named_without_its_words(tmp_path: Path, line: str) -> None:
    tmp_path.joinpath(".env").write_text(f"GITHUB_TOKEN=x\n{line}\n")
    with pytest.raises(SettingsError) as caught:
        load({"TALARIA_HOME": str(tmp_path)})
    assert str(caught.value) == f"{tmp_path / '.env'}, line 2: write NAME=value here."


def test_bytes_that_are_no_text_are_named(tmp_path: Path) -> None:
    tmp_path.joinpath(".env").write_bytes(b"A=\xff")
    with pytest.raises(SettingsError, match="not UTF-8 text"):
        read_env(tmp_path)


_VALUES = st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters="\0\r"), min_size=1, max_size=60
)


@given(value=_VALUES, other=_VALUES)
def test_any_value_is_read_as_it_was_saved(
    tmp_path_factory: pytest.TempPathFactory, value: str, other: str
) -> None:
    home = tmp_path_factory.mktemp("home")
    change_env(home, {"FIRST": value, "SECOND": "2"})
    change_env(home, {"FIRST": other, "THIRD": value})
    assert read_env(home) == {"FIRST": other, "SECOND": "2", "THIRD": value}


def test_other_lines_stay_when_a_variable_changes(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("# mine\nA=1\n\nB = two # why\nA=3")
    change_env(tmp_path, {"A": "4", "C": "5"})
    assert file.read_text() == "# mine\nA=4\n\nB = two # why\nC=5\n"
    assert file.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir()] == [".env"]


def test_comments_and_order_stay_when_a_setting_changes(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('# mine\n[turns]\nper_person = 2 # few\n\n[people]\ntime_zone = "UTC"\n')
    change_config(file, {"people": {"time_zone": "Asia/Tokyo"}, "model": {"name": "x"}})
    text = file.read_text()
    assert text.startswith("# mine\n[turns]\nper_person = 2 # few\n\n[people]\n")
    assert tomllib.loads(text) == {
        "turns": {"per_person": 2},
        "people": {"time_zone": "Asia/Tokyo"},
        "model": {"name": "x"},
    }


@pytest.mark.parametrize("text", ["[people", 'people = "x"'])
def test_a_file_of_another_form_is_left_alone(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text)
    with pytest.raises(SettingsError, match="edit it by hand"):
        change_config(file, {"people": {"time_zone": "UTC"}})
    assert file.read_text() == text
