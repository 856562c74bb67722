"""Sentences of the console's pages about people, their accounts, and who is in each room."""

from agent_core.localization import Text

YOUR_ACCOUNTS = Text("Your accounts")
ABOUT_ACCOUNTS = Text(
    "To Talaria, you are one person in all of these. To link another account, send /link there."
)
ACCOUNT = Text("Account")
HOW = Text("How it came to you")
UNLINK = Text("Unlink")
UNLINK_ACCOUNT = Text("Unlink {account}?")
UNLINKED_TOO = Text(
    "Conversations and notes that began in that account go with it. You are logged out of these"
    " pages. To take it back, link both again with /link."
)
UNLINK_NOW = Text("Yes, unlink it")
KEEP_IT = Text("No, keep it")

SINCE = Text("Since")
WROTE_THERE = Text("Who wrote there lately")
NOBODY_WROTE = Text("nobody")
DIRECT_THERE = Text("Direct conversation there")
DIRECT_CONTINUES = Text("continues for {name}")
DIRECT_WITH_OTHERS = Text("not possible: others have been there since {time}")
DIRECT_ASKED = Text("asked on {time}, and nobody has agreed")
DIRECT_NOT_ASKED = Text("nobody has agreed to it")

_ADMITTED = {
    "list": Text("on the list of allowed accounts, since {date}"),
    "code": Text("approved by code, on {date}"),
    "local": Text("on this computer, since {date}"),
    "link": Text("through the other accounts, since {date}"),
}
_LINKED = Text("{admission}; linked")
_LINKED_ON = Text("{admission}; linked on {date}")


def describe_admission(how: str, since: str, *, is_linked: bool, linked: str) -> str:
    """Say how and when an account came to its person; `linked` is the day of the link, if known."""
    admission = _ADMITTED[how](date=since)
    if linked:
        return _LINKED_ON(admission=admission, date=linked)
    return _LINKED(admission=admission) if is_linked else admission
