"""Sentences of the console page. Its scripts look them up by name."""

from collections.abc import Mapping

from agent_core.localization import Text

FILE_ON_PAGE = Text(
    "📎 {name}: save it from the console page, or chat with `talaria chat --save-files FOLDER`."
)
FILE_SAVED = Text("📎 {name}: saved as {path}")
FILE_NOT_SAVED = Text("📎 {name}: I couldn't save it ({reason}).")

_TEXTS: Mapping[str, Text] = {
    "ask": Text("What's on your mind?"),
    "about": Text(
        "This is the same conversation as in the terminal and in your chats. Type / for commands."
        " Messages you send during an answer steer it."
    ),
    "attach": Text("Attach files"),
    "commands": Text("Commands"),
    "conversation": Text("Conversation"),
    "connected": Text("connected"),
    "connecting": Text("connecting…"),
    "copied": Text("Copied"),
    "copy": Text("Copy"),
    "disconnected": Text("not connected, trying again"),
    "earlier": Text("Show earlier messages"),
    "file": Text("File"),
    "loggedOut": Text("You're logged out. Open the address that talaria run printed."),
    "logOut": Text("Log out"),
    "message": Text("Write a message"),
    "pages": Text("Pages"),
    "remove": Text("Remove {name}"),
    "send": Text("Send (Enter)"),
    "stop": Text("Stop the answer (Escape)"),
    "tooLarge": Text("{name} is larger than {limit}."),
    "tooMany": Text("A message takes at most 10 files."),
    "unsent": Text("waiting to be sent"),
    "uploadFailed": Text("I couldn't upload {name}. Please try again."),
    "uploading": Text("uploading…"),
    "working": Text("working"),
    "you": Text("You:"),
}


def list_texts() -> dict[str, str]:
    """Return the page's sentences by name; those about a file keep their placeholders."""
    return {
        name: text(name="{name}", limit="{limit}") if "{" in text.english else text()
        for name, text in _TEXTS.items()
    }
