"""Discord as everything outside of this folder knows it."""

from adapters.declaration import Platform, Variable

_STEPS = """\
1. Open https://discord.com/developers/applications and press New Application.
2. Under Bot, press Reset Token and copy the token.
3. Under Bot, turn on Message Content Intent."""

PLATFORM = Platform(
    name="discord",
    title="Discord",
    hint=(
        "Your words appear in Discord. Markdown shows, tables don't: use lists. A message "
        "holds 2,000 characters, longer ones are split."
    ),
    icon=(
        "M7 6.5c3-1.300 7-1.300 10 0 2 3 3 6.5 3 10-1.5 1.200-3 2-4.5 2.300l-1-1.800m-5 0-1 "
        "1.800C7 18.5 5.5 17.700 4 16.5c0-3.5 1-7 3-10ZM9.5 12v1m5-1v1M8 16c2.5 1.200 5.5 "
        "1.200 8 0"
    ),
    variables=(
        Variable(
            name="DISCORD_BOT_TOKEN",
            about="Turns Discord on. From the Developer Portal, Bot.",
            option="token",
            question="The bot's token",
            foreign_key="token",
        ),
        Variable(
            name="DISCORD_API_BASE_URL",
            about="Another address for Discord's REST API; ends in `/api/v10`.",
            option="api_base_url",
            kind="http",
        ),
        Variable(
            name="DISCORD_GATEWAY_URL",
            about="Another address for Discord's websocket.",
            option="gateway_url",
            kind="websocket",
        ),
    ),
    needs=lambda _: ("DISCORD_BOT_TOKEN",),
    steps=_STEPS,
    hello="your bot is {name}. Open this link to add it to a server:\n{link}",
    clock="https://discord.com/api/v10/gateway",
    server="DISCORD_API_BASE_URL",
    secret_forms=(r"[A-Za-z0-9_-]{23,28}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27,}",),
)
