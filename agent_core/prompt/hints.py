"""What a model should know of the platform that its words appear on."""

_HINTS = {
    "telegram": (
        "Your words appear in Telegram, mostly on a phone. Bold, italics, code, links, quotes"
        " and lists show as such; tables become fixed-width text: few columns, short cells."
    ),
    "discord": (
        "Your words appear in Discord. Markdown shows, tables don't: use lists. A message holds"
        " 2,000 characters, longer ones are split."
    ),
    "slack": (
        "Your words appear in Slack. Simple Markdown shows; no tables wider than a phone, no"
        " nested lists deeper than two."
    ),
    "console": "Your words appear in a terminal, 80 columns wide, as Markdown.",
}


def find_hint(platform: str) -> str:
    """The hint for a platform; empty for one that there is none for."""
    return _HINTS.get(platform, "")
