"""The page that connects a model: tried first, saved as the setup does, and never shown again."""

import logging
import stat
import tomllib
from pathlib import Path

import pytest

from gateway.app.config_file import change_config
from gateway.home import CONFIG_NAME
from tests.emulators.local_servers import LocalServerEmulator, ollama
from tests.emulators.openai import OpenAIEmulator
from tests.fakes.chat import FakeChat
from tests.integration.interfaces.api_setup import OLGA, ZEBRANA
from tests.integration.interfaces.console_setup import browse, browse_as, submit
from tests.integration.interfaces.page_texts import read
from tests.integration.served import served

KEY = "sk-a-very-secret-key-of-a-test"
MISSING = "No language model is connected yet"


async def test_a_new_home_says_what_is_missing_and_who_can_connect_it(home: Path) -> None:
    chat = FakeChat(limit=100_000)
    async with (
        served(home, adapters={"fake": chat}) as running,
        browse_as(running, chat, OLGA) as owner,
        browse_as(running, chat, ZEBRANA) as member,
    ):
        for path in ("/today", "/condition", "/model"):
            assert MISSING in await read(owner, path), path
        assert 'href="/model"' in await read(owner, "/today")
        health = await read(owner, "/condition")
        assert "A model is missing." in health
        assert "Everything works." not in health
        today = await read(member, "/today")
        assert "An owner can connect one." in today
        assert "/model" not in today
        await submit(member, "/model", {"way": "server"}, status=403)
        (home / ".env").write_text(f"OPENAI_API_KEY={KEY}\n")
        today = await read(member, "/today")
        assert "It answers after an owner restarts me." in today
        assert MISSING not in today


@pytest.mark.parametrize("is_on", [True, False])
async def test_models_of_this_computer_are_looked_for_unless_that_is_off(
    tmp_path: Path, is_on: bool
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    async with LocalServerEmulator(ollama(qwen3__8b=["completion", "tools"])) as emulator:
        model = {"find_local": is_on, "local_ports": [str(emulator.port)], "provider": "scripted"}
        change_config(home / CONFIG_NAME, {"model": model})
        async with served(home) as running, browse(running) as owner:
            before, after = await read(owner, "/model"), await read(owner, "/model?look=yes")
            assert (await owner.get("/configuration/model.find_local")).status == 200
        assert bool(emulator.asked) is is_on
    assert ("qwen3:8b (Ollama)" in after) is is_on
    assert ("The search is switched off" in before) is not is_on
    assert ("Look for models on this computer" in before) is is_on


async def test_an_owner_connects_a_model_that_was_tried_at_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    home = tmp_path / "home"
    async with (
        OpenAIEmulator(key=KEY, models=("llama3:latest", "qwen3:4b")) as api,
        served(home) as running,
        browse(running) as owner,
    ):
        form = {"way": "server", "address": api.base_url, "key": KEY, "name": "lama3"}
        for change, sentence in (
            ({"way": "none"}, "Which one?"),
            ({"way": "openai", "key": ""}, "Paste the key here."),
            ({"key": "sk-wrong"}, "The key is not accepted."),
            ({"address": f"{api.url}/v2"}, "The address usually ends in /v1."),
            ({"address": "http://127.0.0.1:9/v1"}, "The server can&#39;t be reached."),
            ({"address": "nonsense"}, "Details: “"),
            ({}, "It has: llama3:latest, qwen3:4b."),
        ):
            shown = await submit(owner, "/model", form | change)
            assert sentence in shown, change
            assert KEY not in shown
        assert not (home / ".env").exists()
        shown = await submit(owner, "/model", form | {"name": ""})
        assert "llama3:latest works and is saved." in shown
        assert "The model llama3:latest answers after you restart me." in shown
        assert KEY not in shown
        assert KEY not in await read(owner, "/configuration")
        for path in ("/model", "/today", "/", "/condition"):
            page = await read(owner, path)
            assert MISSING not in page, path
            assert "The model llama3:latest answers after you restart me." in page, path
        assert "A restart is still needed." in page
    assert tomllib.loads((home / "config.toml").read_text())["model"] == {
        "provider": "openai",
        "name": "llama3:latest",
    }
    saved = (home / ".env").read_text()
    assert f"OPENAI_API_KEY={KEY}\n" in saved
    assert f"OPENAI_BASE_URL={api.base_url}\n" in saved
    assert stat.S_IMODE((home / ".env").stat().st_mode) == 0o600
    assert KEY not in caplog.text
    async with served(home) as running, browse(running) as owner:
        assert "The model llama3:latest answers now." in await read(owner, "/model")
        assert MISSING not in await read(owner, "/today")


async def test_the_present_key_never_goes_to_another_server(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    async with OpenAIEmulator(models=("llama3:latest",)) as api, OpenAIEmulator() as other:
        (home / ".env").write_text(f"OPENAI_API_KEY={KEY}\nOPENAI_BASE_URL={api.base_url}\n")
        table = '[model]\nprovider = "openai"\nname = "llama3:latest"\n'
        (home / "config.toml").write_text(table)
        form = {"way": "server", "address": other.base_url, "key": "", "name": "gpt-5"}
        async with served(home) as running, browse(running) as owner:
            for change in ({}, {"way": "openai", "address": ""}):
                shown = await submit(owner, "/model", form | change)
                assert "The present key is for another server" in shown, change
            assert not other.peers
            same = {"address": f"{api.base_url}/", "name": "llama3:latest"}
            assert "is saved." in await submit(owner, "/model", form | same)
    assert f"OPENAI_API_KEY={KEY}\n" in (home / ".env").read_text()
