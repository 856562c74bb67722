"""Sentences about tokens: with one, another program acts for a person."""

from collections.abc import Mapping

from agent_core.localization import Text
from agent_core.state.people.token_scopes import TokenScope

TOKENS = Text("Programs with access")
ABOUT = Text(
    "With a token, a program of yours acts for you: a script, your home automation, another"
    " assistant."
)
NONE = Text("No program has access yet.")
NAME, SCOPE = Text("Where will you use the token?"), Text("What may the program do?")
HINT_NAME = Text("For example: laptop. Use letters, digits, spaces, dots, dashes and underscores.")
SCOPES: Mapping[TokenScope, Text] = {
    "mcp": Text("use some of my tools (for another assistant, over MCP)"),
    "api": Text("ask me things and read your data"),
    "manage": Text("also change your data: reminders, memory, settings"),
}
CREATE = Text("Make a token")
SECRET_OF = Text("The token for “{name}”. Copy it now: you won't see it again.")
CREATED, LAST_USED, NEVER_USED = Text("made"), Text("last used"), Text("never used")
REVOKE = Text("End access")
REVOKE_NAMED = Text("End access: {name}")
MADE = Text("Token “{name}” made")
REVOKED = Text(
    "The program “{name}” no longer has access. I can't bring its token back; if it needs"
    " access again, make a new one."
)
ENDED_FOR_GOOD = Text("access ended for “{name}”: I don't keep tokens, so this one can't come back")
BAD_NAME = Text(
    "The name of a token has at most 32 characters: letters, digits, spaces, dots, dashes and"
    " underscores. It begins with a letter or digit."
)
TAKEN = Text("There is a token “{name}” already. Choose another name, or end its access.")
UNKNOWN = Text("There is no token {number}; `talaria tokens list` lists them.")
