"""A text that no platform shows in one message."""

LONG = (
    "A sentence of a few words. " * 400 + "\n\n```py\n" + "print('x')\n" * 600 + "```\n\nThe end."
)
