"""`talaria setup`: in a terminal and from the environment, with good and bad keys."""

import asyncio
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from adapters.registry import list_declared
from agent_core.state.engine.database import Database
from agent_core.state.people import people
from tests.emulators import whatsapp
from tests.emulators.openai import OpenAIEmulator
from tests.emulators.signal import SignalEmulator
from tests.emulators.signal_world import ACCOUNT
from tests.emulators.telegram_cast import ANNA
from tests.emulators.whatsapp import WhatsAppEmulator
from tests.integration.processes import environ, talaria, talaria_beside
from tests.journeys.stage import Stage
from tests.journeys.terminal import Terminal, at_terminal

WRONG_TOKEN = "123456789:AAwrong-token-of-some-35-characters"
NOWHERE = "http://127.0.0.1:9"
EMPTY = r"not shown\): $"
UNUSUAL = tuple(one.title for one in list_declared().values() if not one.is_usual)
"""The chat apps that the setup does not suggest."""


def addresses(deployment: Stage) -> dict[str, str]:
    """The environment of a newcomer, with the emulators in the place of the services."""
    return environ(
        deployment.home,
        ANTHROPIC_BASE_URL=deployment.model.url,
        TELEGRAM_API_BASE_URL=deployment.telegram.base_url,
        SLACK_API_BASE_URL=deployment.slack.base_url,
        DISCORD_API_BASE_URL=deployment.discord.api_base_url,
        DISCORD_GATEWAY_URL=deployment.discord.gateway_url,
        TALARIA_TELEGRAM__MESSAGES_PER_SECOND="0",
    )


def read_home(home: Path) -> tuple[dict[str, object], list[str]]:
    config = tomllib.loads(home.joinpath("config.toml").read_text())
    return config, home.joinpath(".env").read_text().splitlines()


async def test_a_newcomer_is_led_from_an_empty_home_to_the_first_hello(deployment: Stage) -> None:
    loop = asyncio.get_running_loop()

    def claim(link: str) -> None:
        asyncio.run_coroutine_threadsafe(deployment.telegram.says(ANNA, f"/start {link}"), loop)

    def dialogue(variables: Mapping[str, str]) -> None:
        with at_terminal(variables, "run") as terminal:
            terminal.wait_for("Set Talaria up now")
            terminal.type("y\n")
            answer_model(terminal)
            answer_platforms(deployment, terminal)
            terminal.wait_for("Your name")
            terminal.type("a" * 81 + "\n")
            terminal.wait_for("A name has 1 to 80 printable characters")
            terminal.wait_for("Your name")
            terminal.type("Ada\n")
            terminal.wait_for("Your city or time zone")
            terminal.type("Nowhere/City\n")
            terminal.wait_for('There is no time zone "Nowhere/City"')
            terminal.type("Vienna\n")
            terminal.wait_for("assistant's name")
            terminal.type("Hermia\n")
            terminal.wait_for("Its character")
            terminal.type("2\n")
            terminal.wait_for("Keys are in .*env")
            terminal.wait_for("Settings are in .*toml")
            link = terminal.wait_for(r"start=(claim-\S+)")[1]
            terminal.wait_for("Ready")
            claim(link)
            terminal.wait_for(r"Hello, Ada! Telegram is connected")
            terminal.type("\x03")
            terminal.wait_for("$")

    await asyncio.to_thread(dialogue, addresses(deployment))
    config, saved = read_home(deployment.home)
    assert config == {
        "model": {"provider": "anthropic", "name": ""},
        "people": {"time_zone": "Europe/Vienna"},
    }
    assert saved == ["ANTHROPIC_API_KEY=key", f"TELEGRAM_BOT_TOKEN={deployment.telegram.token}"]
    assert deployment.home.joinpath(".env").stat().st_mode & 0o777 == 0o600
    assert deployment.home.joinpath("SOUL.md").read_text().startswith("You are Hermia,")
    database = await Database.open(deployment.home / "state.db")
    try:
        (owner,) = await database.read(people.list_all)
        assert (owner.name, owner.time_zone) == ("Ada", "Europe/Vienna")
    finally:
        await database.close()


def answer_model(terminal: Terminal) -> None:
    terminal.wait_for(r"Choose \[1\]")
    terminal.type("9\n")
    terminal.wait_for("Type a number from 1 to 4")
    terminal.type("1\n")
    terminal.wait_for(EMPTY)
    terminal.type("two words\n")
    terminal.wait_for("Received 9 characters")
    terminal.wait_for("paste it again")
    terminal.wait_for(EMPTY)
    terminal.type("key\n")
    terminal.wait_for("Received 3 characters")
    terminal.wait_for("This key can use .*claude-haiku-5-5")
    terminal.wait_for(r"model's name \[claude-sonnet-5-5\]")
    terminal.type("claude-haiku-5\n")
    terminal.wait_for("Did you mean claude-haiku-5-5. The key is kept")
    terminal.wait_for(r"model's name \[claude-sonnet-5-5\]")
    terminal.type("\n")
    terminal.wait_for("claude-sonnet-5-5 is ready")


def answer_platforms(deployment: Stage, terminal: Terminal) -> None:
    terminal.wait_for("1  Telegram")
    terminal.wait_for(r"Choose \[1\]")
    terminal.type("\n")
    terminal.wait_for(EMPTY)
    terminal.type(f"{WRONG_TOKEN}\n")
    terminal.wait_for("Telegram does not know the token")
    terminal.wait_for(EMPTY)
    terminal.type(f"{deployment.telegram.token}\n")
    terminal.wait_for(r"your bot is @talaria_bot: https://t.me/talaria_bot")
    terminal.wait_for("1  Telegram, connected")
    for name in UNUSUAL:
        terminal.wait_for(rf"\d  {name}")
    terminal.wait_for(rf"Choose \[{len(UNUSUAL) + 2}\]")
    terminal.type("\n")
    terminal.wait_for(r"Keep the console page open .* at port 8765\? \[Y/n\]")
    terminal.type("n\n")


async def test_the_environment_is_checked_and_saved_without_a_question(deployment: Stage) -> None:
    given = addresses(deployment) | {
        "ANTHROPIC_API_KEY": "key",
        "TELEGRAM_BOT_TOKEN": deployment.telegram.token,
        "DISCORD_BOT_TOKEN": deployment.discord.token,
        "SLACK_BOT_TOKEN": deployment.slack.bot_token,
        "SLACK_APP_TOKEN": deployment.slack.app_token,
    }
    words = ("setup", "--non-interactive", "--name", "Ada", "--time-zone", "Europe/Vienna")
    done = await talaria_beside(deployment.home, *words, "--soul", "thorough", **given)
    assert (done.code, done.err) == (0, "")
    assert "claude-sonnet-5-5 is ready." in done.out
    assert "Telegram: your bot is @talaria_bot: https://t.me/talaria_bot" in done.out
    assert re.search(r"Discord: .*\nhttps://discord\.com/oauth2/authorize\?client_id=\d+", done.out)
    assert "Slack: your bot is @" in done.out
    config, saved = read_home(deployment.home)
    assert config == {"people": {"time_zone": "Europe/Vienna"}}
    assert f"SLACK_APP_TOKEN={deployment.slack.app_token}" in saved
    again = await talaria_beside(
        deployment.home, "setup", "profile", "--non-interactive", "--time-zone", "Tokyo"
    )
    assert (again.code, "Keys are in" in again.out) == (0, True)
    assert read_home(deployment.home) == ({"people": {"time_zone": "Asia/Tokyo"}}, saved)


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"TELEGRAM_BOT_TOKEN": WRONG_TOKEN}, "token"),
        ({"DISCORD_BOT_TOKEN": "a.b.c"}, "token"),
        ({"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1"}, "SLACK_BOT_TOKEN"),
        ({"SLACK_BOT_TOKEN": "xoxb-1"}, "SLACK_APP_TOKEN"),
        ({"ANTHROPIC_API_KEY": "wrong"}, "key"),
        ({"ANTHROPIC_API_KEY": "wrong"}, "Check ANTHROPIC_API_KEY."),
        (
            {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": NOWHERE},
            "Check that OPENAI_BASE_URL is right",
        ),
        (
            {"TELEGRAM_BOT_TOKEN": WRONG_TOKEN, "TELEGRAM_API_BASE_URL": NOWHERE},
            "Check the network",
        ),
        ({"TALARIA_PEOPLE__TIME_ZONE": "Mars"}, "TIME_ZONE"),
    ],
)
async def test_a_wrong_key_is_one_sentence_and_writes_nothing(
    deployment: Stage, variables: dict[str, str], sentence: str
) -> None:
    deployment.model.key = "key"
    done = await talaria_beside(
        deployment.home, "setup", "--non-interactive", **(addresses(deployment) | variables)
    )
    assert done.code == 2
    assert sentence in done.err
    assert done.err.count("\n") == 1
    assert not deployment.home.exists() or not any(deployment.home.iterdir())


def test_an_unknown_city_is_one_sentence_and_writes_nothing(tmp_path: Path) -> None:
    done = talaria(tmp_path / "home", "setup", "--non-interactive", "--time-zone", "Mars")
    assert done.code == 2
    assert done.err == 'There is no time zone "Mars". Type one such as Vienna or Europe/Vienna.\n'
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("telegram",), "Telegram has no token; set TELEGRAM_BOT_TOKEN.\n"),
        (("--soul", "warm", "--name", "a" * 81), "A name has 1 to 80 printable characters.\n"),
        (("--assistant", "a\x1b[31m"), "A name has 1 to 80 printable characters.\n"),
    ],
)
def test_what_is_missing_or_wrong_is_said_before_anything_is_written(
    tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    done = talaria(tmp_path / "home", "setup", "--non-interactive", *words)
    assert (done.code, done.err) == (2, sentence)
    assert not (tmp_path / "home").exists()


def test_each_earlier_character_stays(tmp_path: Path) -> None:
    def set_up(voice: str) -> None:
        words = ("setup", "profile", "--non-interactive", "--soul", voice)
        assert talaria(tmp_path, *words).code == 0

    (tmp_path / "SOUL.md").write_text("my own")
    for voice in ("warm", "brief", "brief", "thorough"):
        set_up(voice)
    assert (tmp_path / "SOUL.md.old").read_text() == "my own"
    assert sorted(path.name for path in tmp_path.glob("SOUL.md*")) == [
        *("SOUL.md", "SOUL.md.old", "SOUL.md.old2", "SOUL.md.old3"),
    ]


def test_a_second_setup_offers_the_present_zone(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[people]\ntime_zone = "Asia/Tokyo"\n')
    (tmp_path / "SOUL.md").write_text("my own")
    with at_terminal(environ(tmp_path), "setup", "profile") as terminal:
        terminal.wait_for("Your name")
        terminal.type("\n")
        terminal.wait_for(r"time zone \[Asia/Tokyo\]")
        terminal.type("\n")
        terminal.wait_for(r"holds a character already.*\[y/N\]")
        terminal.type("\n")
        terminal.wait_for("Settings are in")
    assert (tmp_path / "config.toml").read_text() == '[people]\ntime_zone = "Asia/Tokyo"\n'
    assert (tmp_path / "SOUL.md").read_text() == "my own"


async def test_a_second_setup_begins_with_what_is_set(deployment: Stage) -> None:
    given = {"ANTHROPIC_API_KEY": "key", "TELEGRAM_BOT_TOKEN": deployment.telegram.token}
    set_up = ("setup", "--non-interactive", "--time-zone", "Vienna")
    await talaria_beside(deployment.home, *set_up, **(addresses(deployment) | given))
    before = read_home(deployment.home)

    def dialogue(variables: Mapping[str, str]) -> None:
        with at_terminal(variables, "setup") as terminal:
            terminal.wait_for("Set up already: the model claude-sonnet-5-5, Telegram. Enter keeps")
            terminal.wait_for("1  claude-sonnet-5-5, as now")
            terminal.wait_for(r"Choose \[1\]")
            terminal.type("\n")
            terminal.wait_for("1  Telegram, connected")
            terminal.wait_for(rf"Choose \[{len(UNUSUAL) + 2}\]")
            wanted = ("page", "Your name", "Europe/Vienna", "Talaria", "1")
            for question in wanted:
                terminal.type("\n")
                terminal.wait_for(question)
            terminal.type("\n")
            terminal.wait_for("Start Talaria now")
            terminal.type("n\n")
            terminal.wait_for("$")

    await asyncio.to_thread(dialogue, addresses(deployment))
    config, saved = read_home(deployment.home)
    assert (config, saved) == (before[0] | {"http": {"port": 8765}}, before[1])


async def test_an_account_is_linked_by_a_code_that_the_phone_scans(tmp_path: Path) -> None:
    async with SignalEmulator() as daemon:
        daemon.account = "+4917700000000"

        def dialogue(variables: Mapping[str, str]) -> None:
            with at_terminal(variables, "setup", "signal") as terminal:
                terminal.wait_for("The account's number")
                terminal.type("01511\n")
                terminal.wait_for("should be the phone number with its country code")
                terminal.wait_for("The account's number")
                terminal.type(f"{ACCOUNT}\n")
                terminal.wait_for("does not know the account")
                terminal.wait_for(r"Link it now, with the phone that has the account\? \[Y/n\]")
                terminal.type("\n")
                terminal.wait_for("▄▄▄▄▄")
                terminal.wait_for("sgnl://linkdevice")
                terminal.wait_for(f"people reach Talaria at .{ACCOUNT[1:]}: https://signal.me")

        await asyncio.to_thread(dialogue, environ(tmp_path, SIGNAL_RPC_URL=daemon.url))
    assert f"SIGNAL_ACCOUNT={ACCOUNT}" in tmp_path.joinpath(".env").read_text()


async def test_whatsapp_asks_for_the_address_that_meta_calls(tmp_path: Path) -> None:
    async with WhatsAppEmulator() as meta:
        variables = environ(tmp_path / "home", WHATSAPP_API_BASE_URL=meta.base_url)

        def dialogue() -> str:
            with at_terminal(variables, "setup", "whatsapp") as terminal:
                terminal.wait_for("The access token")
                terminal.type(f"{whatsapp.TOKEN}\n")
                terminal.wait_for("The phone number ID")
                terminal.type(f"{whatsapp.PHONE_ID}\n")
                terminal.wait_for("The app secret")
                terminal.type(f"{whatsapp.SECRET}\n")
                terminal.wait_for("The verify token")
                terminal.type(f"{whatsapp.VERIFY}\n")
                terminal.wait_for("your number is Talaria")
                terminal.wait_for("24 hours after a person's last message")
                terminal.wait_for("The public https address")
                terminal.type("http://talaria.example.org\n")
                terminal.wait_for("It must begin with https://")
                terminal.type("https://talaria.example.org\n")
                terminal.wait_for("The callback URL is https://talaria.example.org/hooks/whatsapp")
                terminal.wait_for("Settings are in .*toml")
            return talaria(tmp_path / "home", "check").out

        reported = await asyncio.to_thread(dialogue)
    assert "callback URL is https://talaria.example.org/hooks/whatsapp" in " ".join(
        reported.split()
    )
    assert whatsapp.TOKEN not in reported


async def test_a_refused_key_leads_back_to_the_choice(deployment: Stage) -> None:
    deployment.model.key = "key"

    def dialogue(variables: Mapping[str, str]) -> None:
        with at_terminal(variables, "setup", "model") as terminal:
            terminal.type("1\n")
            terminal.wait_for(EMPTY)
            terminal.type("wrong\n")
            terminal.wait_for("Check ANTHROPIC_API_KEY")
            terminal.wait_for(r"Choose \[1\]")
            assert terminal.leave() == 2

    await asyncio.to_thread(dialogue, addresses(deployment))
    assert not (deployment.home / ".env").exists()


async def test_an_address_of_this_machine_is_completed(tmp_path: Path) -> None:
    def dialogue(address: str, used: str) -> None:
        given = environ(tmp_path / "home", TALARIA_MODEL__FIND_LOCAL="false")
        with at_terminal(given, "setup", "model") as terminal:
            terminal.wait_for(r"Choose \[1\]")
            terminal.type("3\n")
            terminal.wait_for("Its address")
            terminal.type(f"{address}\n")
            terminal.wait_for("Its key")
            terminal.type("\n")
            terminal.wait_for(rf"The server answers at {used}:\d+/v1, so I use that address")
            terminal.wait_for("This server has .*gpt-5-mini")
            assert terminal.leave() == 2

    async with OpenAIEmulator() as api:
        bare = api.url.removeprefix("http://")
        await asyncio.to_thread(
            dialogue, bare.replace("127.0.0.1", "localhost"), "http://localhost"
        )


async def test_a_key_of_another_company_is_not_sent_and_leads_back(tmp_path: Path) -> None:
    rows = (("1", "sk-proj-abc", "GPT"), ("2", "sk-ant-abc", "Claude"))

    def dialogue() -> None:
        given = environ(tmp_path / "home", TALARIA_MODEL__FIND_LOCAL="false")
        with at_terminal(given, "setup", "model") as terminal:
            for number, key, what in rows:
                terminal.wait_for(r"Choose \[1\]")
                terminal.type(f"{number}\n")
                terminal.wait_for(EMPTY)
                terminal.type(f"{key}\n")
                terminal.wait_for(f"holds a key for {what}; set it as")
                terminal.wait_for(EMPTY)
                terminal.type("\n")
            terminal.wait_for(r"Choose \[1\]")
            assert terminal.leave() == 2

    await asyncio.to_thread(dialogue)
    assert not (tmp_path / "home" / ".env").exists()


def test_a_setup_without_questions_says_what_is_missing(tmp_path: Path) -> None:
    done = talaria(tmp_path / "home", "setup", "--non-interactive")
    assert done.code == 0
    assert "Missing: a model. Set ANTHROPIC_API_KEY or OPENAI_API_KEY" in done.out
    assert "Missing: a chat app. Set one of these: TELEGRAM_BOT_TOKEN; DISCORD_BOT" in done.out
    assert "; SLACK_BOT_TOKEN and SLACK_APP_TOKEN" in done.out
    assert "The time zone is this machine's" in done.out
    assert done.out.endswith("`talaria run` starts Talaria.\n")


def test_each_question_can_be_left(tmp_path: Path) -> None:
    questions = ("Your name", "time zone", "assistant's name", r"character.*\[1\]")
    for number in range(len(questions)):
        home = tmp_path / str(number)
        with at_terminal(environ(home), "setup", "profile") as terminal:
            for question in questions[:number]:
                terminal.wait_for(question)
                terminal.type("\n")
            terminal.wait_for(questions[number])
            assert terminal.leave() == 2


def test_without_a_terminal_it_says_how_to_set_up(tmp_path: Path) -> None:
    done = talaria(tmp_path / "home", "setup")
    assert done.code == 2
    assert "add --non-interactive" in done.err
    assert not (tmp_path / "home").exists()


async def test_a_setup_that_is_left_halfway_keeps_what_was_finished(deployment: Stage) -> None:
    def dialogue(variables: Mapping[str, str]) -> None:
        with at_terminal(variables, "setup") as terminal:
            answer_model(terminal)
            terminal.wait_for("Chat apps")
            terminal.type("\x04")
            terminal.wait_for("Run `talaria setup` again to go on")

    await asyncio.to_thread(dialogue, addresses(deployment))
    config, saved = read_home(deployment.home)
    assert config["model"] == {"provider": "anthropic", "name": ""}
    assert saved == ["ANTHROPIC_API_KEY=key"]
