"""Sentences of the console page. Its scripts look them up by name."""

from collections.abc import Mapping

from agent_core.localization import Text

FILE_ON_PAGE = Text(
    "📎 {name}: this file is on the console page. To save files here, too, start the chat with"
    " `talaria chat --save-files FOLDER`."
)
FILE_SAVED = Text("📎 {name}: saved as {path}")
FILE_NOT_SAVED = Text(
    "📎 {name}: I couldn't save this file. Check the folder, then ask me for it again."
    " Details: “{reason}”"
)

TEXTS: Mapping[str, Text] = {
    "again": Text("Try again"),
    "bad": Text("Bad answer"),
    "ask": Text("What's on your mind?"),
    "about": Text(
        "This is the same conversation as in the terminal and in your chats. Type / for"
        " commands. You can also write while I answer: I'll take that into account."
    ),
    "attach": Text("Attach files"),
    "commands": Text("Commands"),
    "conversation": Text("Conversation"),
    "connected": Text("connected"),
    "connecting": Text("connecting…"),
    "copied": Text("Copied"),
    "copy": Text("Copy"),
    "deeds": Text("What you can do with this message"),
    "disconnected": Text("not connected, trying again"),
    "earlier": Text("Show earlier messages"),
    "edit": Text("Edit and send again"),
    "elsewhere": Text("I'm answering in {name}…"),
    "file": Text("File"),
    "good": Text("Good answer"),
    "loggedOut": Text(
        "Your login has ended. Send /console to Talaria in your chat, or run “talaria console”,"
        " and open the new link. What you wrote here stays."
    ),
    "message": Text("Write a message"),
    "readAloud": Text("Read aloud"),
    "record": Text("Record a voice message"),
    "recording": Text("Recording {name}. Press again to send, or Escape to throw it away."),
    "noMicrophone": Text(
        "The browser doesn't let me use the microphone. Allow it for this page, and try again."
    ),
    "notJudged": Text("I couldn't note what you think of the answer. Please try again."),
    "remove": Text("Remove {name}"),
    "rename": Text("Rename"),
    "send": Text("Send (Enter)"),
    "stopReading": Text("Stop reading aloud"),
    "stop": Text("Stop the answer (Escape)"),
    "tooLarge": Text("{name} is larger than {limit}. Choose a smaller file."),
    "tooMany": Text("A message takes at most 10 files. Send the others with another message."),
    "unsent": Text("waiting to be sent"),
    "uploadFailed": Text("I couldn't upload {name}. Please try again."),
    "uploading": Text("uploading…"),
    "why": Text("Why this answer?"),
    "working": Text("working"),
    "you": Text("You:"),
}


def list_texts() -> dict[str, str]:
    """Return the page's sentences by name; those about a file keep their placeholders."""
    return {
        name: text(name="{name}", limit="{limit}") if "{" in text.english else text()
        for name, text in TEXTS.items()
    }
