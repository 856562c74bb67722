"""The chat platforms that Talaria comes with: their titles, and what a model should know of each.

Only what a person or a model reads is here; how a platform works is in its folder of `adapters`.
The console and the API are not among them: a job can't name them as its target.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformWords:
    """Words about a platform. `hint` tells a model how its words appear there."""

    title: str
    hint: str


CHAT_PLATFORMS: Mapping[str, PlatformWords] = {
    "telegram": PlatformWords(
        title="Telegram",
        hint=(
            "Your words appear in Telegram, mostly on a phone. Markdown shows; tables become"
            " fixed-width text: few columns, short cells."
        ),
    ),
    "discord": PlatformWords(
        title="Discord",
        hint=(
            "Your words appear in Discord. Markdown shows, tables don't: use lists. A message holds"
            " 2,000 characters, longer ones are split."
        ),
    ),
    "slack": PlatformWords(
        title="Slack",
        hint=(
            "Your words appear in Slack. Simple Markdown shows; no tables wider than a phone, no"
            " nested lists deeper than two. Commands follow /talaria there, as in `/talaria new`."
        ),
    ),
}


def find_title(platform: str) -> str:
    """Return the title of a platform; "" for one that Talaria does not come with."""
    known = CHAT_PLATFORMS.get(platform)
    return known.title if known else ""
