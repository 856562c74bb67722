"""Sentences of the forms that create things on the console's pages."""

from collections.abc import Mapping

from agent_core.localization import Plural, Text

NEW_REMINDER = Text("New reminder")
WHAT = Text("What is it about?")
WHAT_EXAMPLE = Text("Water the plants")
WHEN = Text("When?")
WHEN_HINT = Text("Like “tomorrow at 9”. Your time zone: {zone}.")
WHENS: tuple[Text, ...] = (
    Text("in 20 minutes"),
    Text("tomorrow at 9:00"),
    Text("every day at 8:00"),
    Text("every Monday at 19:00"),
    Text("on the first Monday of the month at 9:00"),
)
"""Times that the form suggests; Talaria reads each of them."""
WAY = Text("What should happen then?")
WAYS: Mapping[str, Text] = {
    "message": Text("Send me this text"),
    "prompt": Text("Do it then, and send me the answer"),
}
TO = Text("Where to?")
SHOW_TIMES = Text("Show the next times")
CREATE = Text("Create")
CANCEL = Text("Cancel")
NEXT_TIMES = Text("Next times")
IT_IS = Text("I understand: {timing}.")
CREATED_REMINDER = Text("I'll remind you: {title}. Next: {moment}.")
ACTED: Mapping[str, Text] = {
    "run": Text("“{title}” runs now."),
    "pause": Text("“{title}” is paused."),
    "resume": Text("“{title}” is active again."),
    "delete": Text("“{title}” is deleted. You can restore it below."),
    "restore": Text("“{title}” is back."),
}
"""What a button of the list of reminders has done."""
MISSING = Text("Please fill this in.")

SAVED = Text("Saved.")
NOT_SAVED = Text("Nothing is saved yet. Please look at the marked fields.")
NOTHING_CHANGED = Text("Nothing has changed.")
LANGUAGE_AND_PLACE = Text("Language and place")
ANY_LANGUAGE = Text("The one you write in")
OWN_ZONE = Text("The usual one here: {zone}")
AREAS: Mapping[str, Text] = {
    "Africa": Text("Africa"),
    "America": Text("America"),
    "Antarctica": Text("Antarctica"),
    "Arctic": Text("Arctic"),
    "Asia": Text("Asia"),
    "Atlantic": Text("Atlantic Ocean"),
    "Australia": Text("Australia"),
    "Europe": Text("Europe"),
    "Indian": Text("Indian Ocean"),
    "Pacific": Text("Pacific Ocean"),
}
REST = Text("Quiet times")
ABOUT_REST = Text("What isn't urgent waits until a quiet time ends.")
FROM, UNTIL = Text("from"), Text("until")
ANSWERS = Text("Answers")
USUAL_MODEL = Text("The usual one: {name}")
ABOUT_LEARNING = Text("What I learn from your conversations, and what I say about it.")

REMINDERS_GO_TO = Text("Reminders go to")
LATEST_CHAT, A_GROUP = Text("The chat where you last wrote"), Text("A group")
WHO_SEES, ONLY_YOU_SEE = Text("Who sees it: {names}"), Text("Only you see it.")
SHARE_WITH_ALL, KEEP_PRIVATE = Text("Share with everyone"), Text("Make private")
SHARE_ENTRY = Text("Share with everyone: {entry}")
KEEP_PRIVATE_ENTRY = Text("Make private: {entry}")
INVITE_SOMEBODY = Text("Invite someone")
INVITE = Text("Make an invitation")
GUEST = Text("Who is it for? (optional)")
INVITED = Text("The invitation for {name} is ready. Send them one of these:")
INVITED_SOMEBODY = Text("The invitation is ready. Send the person one of these:")
INVITED_ONCE = Text(
    "The invitation lets one person in, within a week. I won't show these lines again."
)
NO_CHAT_APP = Text(
    "No chat app is connected yet, so there is nothing to send. `talaria setup` connects one."
)
COPY, COPIED = Text("Copy"), Text("Copied")
WAITING = Text("Who wants in")
NOBODY_WAITS = Text(
    "Nobody is waiting. Whoever writes to me without an invitation gets a code and appears here."
)
LET_IN, REFUSE = Text("Let in"), Text("Refuse")
WROTE_ON = Text("wrote to me on {platform}")
STRANGERS_WAIT = Plural("Someone is waiting to be let in", "{n} people are waiting to be let in")
ABOUT_STRANGERS = Text(
    "They can't do anything until you let them in. Refuse anyone you don't know."
)
REFUSED = Text("I've refused {name}. If they write to me again, you'll see it here.")
LET_IN_NAMED, REFUSE_NAMED = Text("Let {name} in"), Text("Refuse {name}")
CODE = Text("Or type the code that the person got")
OPEN_INVITATIONS = Text("Open invitations")
FOR_SOMEBODY = Text("for someone")
FOR_NAMED = Text("for {name}")
CANCEL_NAMED = Text("Cancel the invitation {name}")
CANCELLED = Text("The invitation {name} is cancelled.")
ACCESS, REMOVE = Text("Access"), Text("Remove…")
REMOVE_NAMED = Text("Remove {name}")
WHAT_GOES = Text(
    "This permanently deletes everything that belongs to {name}: conversations, memory,"
    " archive, files, reminders and accounts. It can't be undone."
)
IN_BACKUPS = Text("These backups will still contain it all: {names}.")
TYPE_NAME = Text("Type “{name}” to confirm")
WRONG_NAME = Text("That isn't the name. Type “{name}”, exactly as shown.")
REMOVE_FOR_GOOD = Text("Delete everything")
REMOVED = Text("{name} is removed.")

NEW_SKILL = Text("New skill")
ABOUT_NEW_SKILL = Text(
    "A skill tells me how to do some work, and I follow it whenever it fits. You can also send"
    " it as a command: `/trip-planning`."
)
SKILL_NAME = Text("Name")
HINT_SKILL_NAME = Text("Small letters, digits and hyphens, such as `trip-planning`.")
SKILL_WHEN = Text("When should I use it?")
HINT_SKILL_WHEN = Text("One or two sentences. They tell me when the skill fits.")
SKILL_HOW = Text("What should I do?")
CREATED_SKILL = Text("The skill “{name}” is ready. Every owner can change it.")
CHANGED_SKILL = Text("The skill “{name}” has been changed.")
EDIT = Text("Edit")
EDIT_NAMED = Text("Edit {name}")
ARCHIVE, PIN, UNPIN = Text("Move to the archive"), Text("Pin"), Text("Unpin")
ARCHIVED = Text("The skill “{name}” is archived.")
RESTORED = Text("The skill “{name}” is back.")
PINNED_NOW = Text("The skill “{name}” is pinned, so I never archive it on my own.")
UNPINNED = Text("The skill “{name}” is no longer pinned.")
ROLLED_BACK = Text("The skill “{name}” has the chosen version again.")
UNDONE = Text("↩ Taken back. The skill “{name}” is as it was before.")
PUT_BACK = Text("Return to this version")
ABOUT_SKILLS = Text("“Use” starts a message with the skill; add what you want.")
USE = Text("Use")
USE_NAMED = Text("Use {name}")
EXAMPLES = Text("Examples")

CHANGE = Text("Change")
CHANGE_NAMED = Text("Change {name}")
ABOUT_SETTING = Text("Saving checks the value and writes it into `{file}`.")
ABOUT_MACHINE = Text(
    "Some settings can be changed only on the computer I run on, with `talaria config`."
    " They say what I may run or reach, and who may talk to me."
)
SAVED_SETTING = Text("The setting “{name}” is saved. It takes effect after you restart me.")
ONE_A_LINE = Text("One per line.")
DEFAULT_IS = Text("The default is {value}.")
NONE = Text("none")
RESET = Text("Use the default")

REMEMBER = Text("Remember something")
REMEMBER_EXAMPLE = Text("I'm allergic to nuts")
REMEMBER_IT = Text("Remember it")
REMEMBERED = Text("I'll remember that.")
FORGOTTEN = Text("That's gone from my memory.")
CHANGE_ENTRY = Text("Change: {entry}")

FILES = Text("Files")
ABOUT_FILES = Text(
    "These are the files that I read and write for you. Drop files here, or press Upload. An"
    " upload never replaces a file."
)
WORKSPACE = Text("Workspace")
NO_FILES = Text("No files here yet.")
UPLOAD = Text("Upload")
TOO_LARGE = Text("too large")
SIZE, CHANGED_AT = Text("Size"), Text("Changed")
NO_WORKSPACE = Text(
    "There are no files to show here: my tools for files are switched off, or they run on"
    " another computer."
)
FILE_REFUSED = Text("That can't be done with this file. Details: “{reason}”")

FURTHER = Text("More settings")
THIS_DEVICE = Text("This browser")
NOTIFY = Text("Notify me of answers and questions")
ABOUT_NOTIFY = Text(
    "This works while one of my pages is open in the background. The notification"
    " doesn't show what we write."
)
NOTIFY_REFUSED = Text(
    "The browser doesn't allow notifications. Allow them in its settings for this page."
)
NEW_ANSWER = Text("There's a new answer.")
NEW_QUESTION = Text("I have a question.")

ALLOWED = Text("What I may do without asking")
REVOKE = Text("Ask again from now on")
