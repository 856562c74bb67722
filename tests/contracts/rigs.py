"""The rigs of all platforms by name; what a rig has to be able to do stands in `rig`."""

from tests.contracts.rig import Rigs
from tests.contracts.rigs_console import console
from tests.contracts.rigs_discord import discord
from tests.contracts.rigs_fake import fake, plain
from tests.contracts.rigs_slack import slack
from tests.contracts.rigs_telegram import telegram

RIGS: Rigs = {
    "telegram": telegram,
    "discord": discord,
    "slack": slack,
    "console": console,
    "fake": fake,
    "plain": plain,
}
