"""Telegram as everything outside of this folder knows it."""

from adapters.declaration import Platform, Variable

_STEPS = """\
1. In Telegram, open a chat with @BotFather (https://t.me/BotFather) and send /newbot.
2. Choose a name, and a username that ends in "bot".
3. @BotFather answers with a token such as 123456789:AAE... Copy it."""

PLATFORM = Platform(
    name="telegram",
    title="Telegram",
    hint=(
        "Your words appear in Telegram, mostly on a phone. Markdown shows; tables become "
        "fixed-width text: few columns, short cells."
    ),
    icon="M20.5 4 3.5 11l5 2 2 6 3-4 4.5 3.5ZM8.5 13l8-6",
    variables=(
        Variable(
            name="TELEGRAM_BOT_TOKEN",
            about="Turns Telegram on. From @BotFather.",
            option="token",
            question="The bot's token",
            foreign_key="botToken",
        ),
        Variable(
            name="TELEGRAM_API_BASE_URL",
            about="Another Bot API server: the part before `/bot<token>`.",
            option="base_url",
            kind="http",
        ),
    ),
    needs=lambda _: ("TELEGRAM_BOT_TOKEN",),
    steps=_STEPS,
    hello="your bot is {name}: {link}",
    is_usual=True,
    clock="https://api.telegram.org/",
    server="TELEGRAM_API_BASE_URL",
    secret_forms=(r"(?<!\d)\d{6,}:[A-Za-z0-9_-]{30,}",),
)
