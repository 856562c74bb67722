"""The menus of commands on real platforms: in each person's language, within their limits."""

from gateway.commands.catalog import make_menu, read_plain_name
from tests.adapters.discord import rig as discord
from tests.adapters.telegram import rig as telegram
from tests.emulators.discord import DiscordEmulator
from tests.emulators.discord_menus import show_command
from tests.emulators.telegram import TelegramEmulator


async def test_telegram_shows_the_menu_in_german_to_germans() -> None:
    async with TelegramEmulator() as api, telegram.running(api) as rig:
        await rig.adapter.show_menu(make_menu())
        english, german = api.menu("en"), api.menu("de")
    assert {"command": "reminders", "description": "Show or change your reminders"} in english
    assert {
        "command": "erinnerungen",
        "description": "Deine Erinnerungen zeigen oder ändern",
    } in german
    assert "gedaechtnis" in [one["command"] for one in german]
    meant = [read_plain_name(one["command"], "")[0] for one in german]
    assert meant == [one["command"] for one in english]


async def test_discord_shows_the_menu_in_german_to_germans() -> None:
    async with DiscordEmulator() as api, discord.running(api) as rig:
        for _ in range(2):
            await rig.adapter.show_menu(make_menu())
        english, german = (
            [show_command(one, locale) for one in api.synced_commands()]
            for locale in ("en-US", "de")
        )
        puts = [path for method, path in api.calls if method == "PUT" and "/commands" in path]
    assert len(puts) == 1
    assert ("reminders", "Show or change your reminders", "What comes after the command") in english
    assert (
        "erinnerungen",
        "Deine Erinnerungen zeigen oder ändern",
        "Was hinter dem Befehl steht",
    ) in german
    assert "gedächtnis" in [name for name, _, _ in german]
    meant = [read_plain_name(name, "")[0] for name, _, _ in german]
    assert meant == [name for name, _, _ in english]
