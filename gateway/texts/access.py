"""Sentences about access to the console's pages: links, logins, roles and consent."""

from agent_core.localization import Text

NO_CONSOLE = Text("The console page is off. Ask the owner to turn it on.")
NO_CONSOLE_OWNER = Text(
    "The console page is off. Set a port in config.toml under [http], and restart Talaria."
)
_LINK = Text("Your pages: {link}")
_LINK_ONCE = {
    True: Text(
        "You can use the link once, within {minutes} minutes. Don't pass it on: it opens"
        " your conversations."
    ),
    False: Text(
        "The button opens your pages. You can use it once, within {minutes} minutes. Don't"
        " pass this message on: it opens your conversations."
    ),
}
LINK_HERE = {
    True: Text(
        "⚠ This address works only on the computer that runs Talaria, not on a phone. To"
        " open your pages elsewhere, give that computer an address through a reverse proxy."
        " Then enter that address in config.toml under [http] as `public_url`."
    ),
    False: Text(
        "⚠ This address works only on the computer that runs Talaria, not on a phone. Ask the owner"
        " for one that works elsewhere."
    ),
}
"""A warning below a link, by whether its reader is an owner."""
OPEN_PAGES = Text("Open your pages")
LINK_WORKS_ONCE = Text("This link works once. Your login lasts 12 hours.")
LINK_ENDED = Text(
    "This link was already used, or it is too old. For a new one, send /console to Talaria in"
    " your chat, or run `talaria console`."
)
LOGIN_ENDED = Text(
    "You aren't logged in, or your login has ended. For a new link, send /console to"
    " Talaria in your chat, or run `talaria console`."
)
LOGGED_IN_AGAIN = Text("I have logged in again")
LOGGED_OUT = Text("You are logged out. Send /console to Talaria in your chat to come back.")
ONLY_OWNERS = Text("Only owners see this page.")
MAY_READ = Text(
    "{name}, an owner of this Talaria, asks to read your conversations for {hours} hours. You"
    " can end that at any time with /console private."
)
ALLOW = Text("Allow for {hours} hours")
REFUSE = Text("No")
ALLOWED = Text(
    "{name} may read your conversations for {hours} hours. You can end that at any time with"
    " /console private."
)
REFUSED = Text("{name} may not read your conversations.")
NO_OWNER_ANY_MORE = Text(
    "The person who asked is no longer an owner. Nobody may read your conversations."
)
ASKED_ALREADY = Text("I've already asked {name}, and there's no answer yet.")
NO_DIRECT_CHAT = Text(
    "{name} has no direct chat with me, so I can't ask there. Ask them to write to me first."
)
PRIVATE = Text("Nobody but you can read your conversations.")
MAY_READ_UNTIL = Text("{name} may read your conversations until {time}.")
END_READING = Text("End this now")
ASK_TO_READ = Text("Ask to read")
ASK_PERSON_TO_READ = Text("Ask to read the conversations of {name}")
ASKED = Text("Asked, no answer yet")
READ_UNTIL = Text("You may read until {time}")
CONVERSATIONS_OF = Text("Conversations of {name}")


def describe_link(link: str, minutes: int) -> str:
    """Show a link to the pages; "" for one that stands behind a button."""
    lines = [_LINK(link=link)] if link else []
    return "\n".join([*lines, _LINK_ONCE[bool(link)](minutes=minutes)])
