"""The rigs of all platforms by name; what a rig has to be able to do stands in `rig`."""

from tests.contracts.rig import Rigs
from tests.contracts.rigs_console import console
from tests.contracts.rigs_discord import discord
from tests.contracts.rigs_fake import fake, plain
from tests.contracts.rigs_signal import signal
from tests.contracts.rigs_slack import slack
from tests.contracts.rigs_telegram import telegram
from tests.contracts.rigs_whatsapp import whatsapp

RIGS: Rigs = {
    "telegram": telegram,
    "discord": discord,
    "slack": slack,
    "signal": signal,
    "whatsapp": whatsapp,
    "console": console,
    "fake": fake,
    "plain": plain,
}
