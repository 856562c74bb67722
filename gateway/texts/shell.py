"""Sentences of the frame around the console's pages: sidebar, search, times and error pages."""

from collections.abc import Mapping
from http import HTTPStatus

from agent_core.localization import Plural, Text
from gateway.texts.pages import NOT_FOUND

MENU = Text("Menu")
CLOSE_MENU = Text("Close the menu")
NEW_CHAT = Text("New chat")
SEARCH_ALL = Text("Search everything")
SIDEBAR = Text("Sidebar")
YOURS = Text("Yours")
ADMINISTRATION = Text("Administration")
NO_SESSIONS = Text("Your conversations appear here.")
FIRST_WORDS = Text("Say hello")
UNTITLED = Text("New conversation")

YESTERDAY = Text("Yesterday")
LAST_WEEK = Text("Last week")
MONTH = Text("{month} {year}")
WAIT_FOR_YOU = Plural("{n} waits for you", "{n} wait for you")
JUST_NOW = Text("just now")
MINUTES_AGO = Plural("{n} min ago", "{n} min ago")
HOURS_AGO = Plural("{n} h ago", "{n} h ago")
IN_MINUTES = Plural("in {n} min", "in {n} min")
IN_HOURS = Plural("in {n} h", "in {n} h")
YESTERDAY_AT = Text("yesterday, {time}")
TOMORROW_AT = Text("tomorrow, {time}")
ON_WEEKDAY = Text("{weekday}, {time}")

SEARCH_HINT = Text("Conversations, messages, memory, reminders, skills, settings, pages")
ASK_IN_CHAT = Text("Ask in the chat")
MESSAGES = Text("Messages")
ALSO_NEAR = Plural(
    "Also shown, just before or after: {n} message without your search words",
    "Also shown, just before or after: {n} messages without your search words",
)
WHY = Text("Why?")
HOW_IT_CAME = Text("How this answer came about")
BASED_ON = Text("What the answer is based on")
ON_MEMORY = Text("What Talaria remembers about you")
ON_CONVERSATION = Text("This conversation")
ON_STEPS = Plural("{n} step that led to the answer", "{n} steps that led to the answer")
ALL_ACTIVITY = Text("All activity")
WITHOUT_WORDS = Text("A message without words")
NEWEST = Text("To the newest message")
GO_ON = Text("Go on with this conversation")
ABOUT_GO_ON = Text("Your next message continues this conversation, whichever chat you write in.")

NEEDS_SCRIPT = Text(
    "The chat needs JavaScript. Without it, write on the page of a conversation, or with"
    " `talaria chat` in a terminal."
)

GO_TO = Text("Go to {page}")
FAULT = Text("That did not work. Go back and try again.")
FAULTS: Mapping[int, Text] = {
    HTTPStatus.NOT_FOUND: NOT_FOUND,
    HTTPStatus.METHOD_NOT_ALLOWED: Text(
        "I couldn't tell that this came from you, so nothing was changed. Load the page again,"
        " and retry."
    ),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: Text(
        "That was too much at once. Send it in smaller parts."
    ),
    HTTPStatus.UNPROCESSABLE_ENTITY: Text(
        "Something in the form is missing or doesn't fit. Go back and look at it again."
    ),
    HTTPStatus.SERVICE_UNAVAILABLE: Text(
        "Talaria can't read its database now. Try again in a minute."
    ),
    HTTPStatus.INTERNAL_SERVER_ERROR: Text(
        "Something went wrong on this page. Load it again. If that doesn't help, the owner"
        " finds the reason with `talaria logs`."
    ),
}
"""Sentences about requests without an answer, by status."""
