"""Sentences of the console's pages: what each shows, and what it says while it is empty."""

from agent_core.localization import Plural, Text

SKIP = Text("Skip to the content")
PAGES = Text("Pages")
CHAT = Text("Chat")
TODAY = Text("Today")
TURNS = Text("Activity")
MEMORY = Text("Memory")
JOBS = Text("Reminders")
USAGE = Text("Usage")
PEOPLE = Text("People and groups")
SKILLS = Text("Skills")
HEALTH = Text("Health")
LOG_OUT = Text("Log out")
NOT_FOUND = Text("There is nothing at this address. It may have been deleted.")
REFUSED = Text("That did not work: {reason}")

COMING = Text("Still to come today")
NOTHING_COMES = Text("Nothing more is planned for today.")
FOLLOWING = Text("After that:")
RUNNING = Text("Running now")
WAITING = Text("Waiting for you")
TAKEN_BACK = Text("taken back")
NOTHING_WAITS = Text("Nothing waits for you. Questions and approvals appear here.")
CHART_OF = Text("{title}. The table “{table}” has the same numbers.")
ANSWER_FINAL = Text("Your answer takes effect at once and is final: the work goes on with it.")
ANSWER_UNDONE = Text("You can undo your answer later.")
YOUR_ANSWER = Text("Your answer")
SEND = Text("Send")
ANSWERED = Text("Your answer has arrived.")
QUESTION_CLOSED = Text("this question is closed, or has no such choice.")
DONE_TODAY = Text("Done today")
REMINDED = Text("⏰ I reminded you: {title}")
ASKED_TODAY = Text("Your requests today")
COST_TODAY = Text("Cost today")

CONVERSATIONS = Text("Conversations")
CONVERSATION = Text("Conversation")
ALL_CONVERSATIONS = Text("All conversations")
NO_CONVERSATIONS = Text("No conversations yet. Write a message here or in a chat.")
NO_MESSAGES = Text("There are no messages on this page.")
UNTITLED = Text("Untitled")
IN_GROUP = Text("in a group")
YOUR_OWN = Text("Your own")
YOU = Text("You")
NEW_MESSAGE = Text("Write a message")
CONNECTION_LOST = Text(
    "The connection was lost. Reload this page, and send your message again if it isn't there."
)
NO_MESSAGE = Text("the message is empty or too long.")
SEARCH_CONVERSATIONS = Text("Search all conversations")
SEARCH = Text("Search")

NOTHING_FOUND = Text("Nothing was found. Try other words, or name a month.")

FOUND_NEAR = Text(
    "The words are not in these messages themselves, but in other messages just before or"
    " after them."
)

NO_TURNS = Text(
    "No requests yet. Each message that you send me counts as a request, and so does each"
    " reminder that asks the model."
)
OLDER = Text("Older")
MORE = Text("More")
STARTED = Text("Started")
TOOK = Text("Took")
SECONDS = Text("{seconds} s")
STATE = Text("State")
PLATFORM = Text("Platform")
COST = Text("Cost")
TOKENS = Text("Tokens")
CACHED = Text("from the cache")
REQUEST = Text("Message")
ANSWER = Text("Answer")
TIMELINE = Text("Timeline")
NO_STEPS = Text("No tool and no AI model was used for this.")
STEP = Text("Step")
MODEL_CALL = Text("Model: {model}")
STILL_RUNS = Text("still running")
FAILED = Text("failed")
PROMPT = Text("What the model read")
PROMPT_GONE = Text("There is nothing to show: the text was deleted, or no model was asked.")
PROMPT_SIZE = Plural("Show all of it ({n} character)", "Show all of it ({n} characters)")
OF_GROUP = Text("The model also read other people's messages, so this isn't shown.")

NOTES_WAIT = Plural("{n:,} note needs your approval", "{n:,} notes need your approval")
ABOUT_HELD = Text("Talaria isn't sure about these notes, and uses one only if you accept it.")
DISMISSED = Text("Dismissed notes")
ABOUT_DISMISSED = Text(
    "You dismissed these notes, or didn't decide about them in time. None of them is used."
)
NOTES_DISMISSED = Plural(
    "{n:,} dismissed note can come back", "{n:,} dismissed notes can come back"
)
TWICE = Text("The same thing went wrong twice:")

ABOUT_YOU = Text("About you")
NOTES = Text("Notes")
OF_EVERYONE = Text("Shared with everyone")
NOTHING_KNOWN = Text("Talaria remembers nothing yet. Tell Talaria about yourself in the chat.")
PROFILE = Text("Profile")
GUESSES = Text("Guesses")
GUESSED = Text("{percent}% sure, because: {premises}")
ARCHIVE = Text("Archive")
NO_NOTES = Text("No notes in the archive yet. Ask in the chat, for example: “Keep this for later.”")
OLDER_NOTES = Text("Older notes")
CHANGES = Text("Changes")
WAITED = Text("waits for your quiet time to end")
FORGOTTEN_CHANGE = Text("You had these words deleted.")
NO_CHANGES = Text("No changes yet. Each change of memory appears here, and each can be undone.")
ADDED = Text("added")
REPLACED = Text("changed")
REMOVED = Text("removed")
EVIDENCE = Text("Evidence")
UNDO = Text("Undo")
UNDO_NAMED = Text("Undo: {name}")
BRING_BACK = Text("Bring it back")
BACK_NAMED = Text("Bring it back: {name}")
TOOK_BACK = Text("Taken back: {name}")
BROUGHT_BACK = Text("Brought back: {name}")
UNDO_NUMBER = Text("Undo change {number}")
UNDONE = Text("undid change {number}")

NO_JOBS = Text("No reminders yet. Ask in the chat, for example: “Remind me every Friday at 9.”")
NEXT_RUN = Text("Next time")
LAST_RUNS = Text("Last runs")
NO_RUNS = Text("No runs yet")
RUN_NOW = Text("Run now")
PAUSE = Text("Pause")
RESUME = Text("Resume")
DELETE = Text("Delete")
ACTION_ON_JOB = Text("{action}: {title}")

NO_USAGE = Text("No model was called in the last {number} days.")
LAST_DAYS = Text("The last {number} days")
BY_PURPOSE = Text("By purpose and model")
PURPOSE = Text("Purpose")
MODEL = Text("Model")
CALLS = Text("Calls")
READ_TOKENS = Text("Tokens read")
WRITTEN_TOKENS = Text("Tokens written")
SHARE = Text("Share of the cost")
NOBODY_USED = Text("Nobody used a model in the last {number} days.")

SETTINGS = Text("Settings")
ABOUT_SETTINGS = Text(
    "These apply only to you, here and in every chat. Leave a field empty for the usual value."
)
SAVE = Text("Save")
SHARED_NOTES = Text("Shared notes (blocks): make, share and change them")
SAVE_SETTING = Text("Save: {name}")
SETTING_WAS = Text("{name}, before: {value}.")
NOT_SET = Text("not set")
JOBS_STAY = Plural(
    "{n:,} reminder keeps the time zone {zone}. To move it to your new time zone, tell me so"
    " in the chat.",
    "{n:,} reminders keep the time zone {zone}. To move them to your new time zone, tell me"
    " so in the chat.",
)
TIME_ZONE = Text("Time zone")
LANGUAGE = Text("Language")
QUIET_HOURS = Text("Quiet hours")
DAYS_OFF = Text("Days off")
PROGRESS = Text("What you see of my work")
READING_LIMIT = Text("Reading limit")
SPOKEN_ANSWERS = Text("Spoken answers")
LEARNING = Text("Learning")
HINT_TIME_ZONE = Text('A city like "Vienna", or "UTC+2".')
HINT_LANGUAGE = Text(
    "A language code like de or pt-BR. If the field is empty, I answer in the language you"
    " write in."
)
HINT_QUIET_HOURS = Text(
    "For example, 22:00-07:30. What isn't urgent waits until your quiet hours end."
)
HINT_DAYS_OFF = Text("For example, sat,sun: the first three letters of each day in English.")
HINT_READING_LIMIT = Text(
    "How much I may read for an answer, in tokens (4 tokens are about 3 words), for example 50000."
)
HINT_MODEL = Text(
    "This model answers in your direct conversations. Leave the field empty for the usual model."
)

CONFIGURATION = Text("Configuration")
ABOUT_CONFIGURATION = Text(
    "These values are in use. Some have the button “Change”; you change the others in"
    " config.toml or with a variable. A change takes effect when Talaria restarts."
    " docs/configuration.md explains each value."
)
VALUE = Text("Value")
BY_DEFAULT = Text("default")
SECRETS = Text("Tokens and keys")
SECRET_SET = Text("set")

ALL_WELL = Text("Everything works.")
NOT_WELL = Text("Something needs your attention.")
RUNS_SINCE = Text("Running since")
VERSION = Text("Version")
PLATFORMS = Text("Platforms")
NO_PLATFORMS = Text("No chat app is connected yet. `talaria setup` connects one.")
LAST_SEEN = Text("Last seen")
DETAILS = Text("Details")
QUEUES = Text("Queues")
TURNS_RUNNING = Text("Requests running now")
TO_DELIVER = Text("Messages waiting to be sent")
OLDEST_WAITS = Text("Oldest waiting since")
UNDELIVERED = Text("Undelivered messages")
UNREADABLE = Text("Messages that I couldn't read")
LAST_ERRORS = Text("Last errors")
NO_ERRORS = Text("No errors. Messages that can't be delivered appear here with the reason.")
UPKEEP = Text("Maintenance")
NO_UPKEEP = Text("Nothing yet. Backups and the clean-up of each night appear here.")
DATABASE = Text("Database")
WORKS = Text("works")
SIZE = Text("Size")
MEGABYTES = Text("{size} MB")
NEWEST_BACKUP = Text("Newest backup")
BACK_UP_NOW = Text("Back up now")
NO_BACKUP = Text("None yet. Talaria makes one each night, or at once with `talaria backup`.")

WHO_HAS_ACCESS = Text("Who may talk with Talaria")
NAME = Text("Name")
ROLE = Text("Role")
ACCOUNTS = Text("Accounts")
NO_ACCOUNTS = Text("none")
ROOMS = Text("Groups and channels")
ROOM = Text("Group or channel")
NO_ROOMS = Text("No groups yet. Add Talaria to a group and mention it there.")
UNNAMED = Text("without a name")
MODE = Text("Mode")
SET_BY = Text("Set by")

NO_SKILLS = Text(
    "No skills yet. Ask in the chat, for example: “Remember how we did this, as a skill.”"
)
SKILL = Text("Skill")
ORIGIN = Text("Origin")
USES = Text("Uses")
SUCCESSES = Text("Succeeded")
FAILURES = Text("Failed")
LAST_USED = Text("Last used")
NEVER = Text("never")
PINNED = Text("Pinned: it stays, however rarely it is used.")
INSTRUCTIONS = Text("Instructions")
VERSIONS = Text("Versions")
VERSION_NUMBER = Text("Version {number}")
CURRENT = Text("in use")
NO_VERSIONS = Text(
    "No versions are kept of this skill, because it isn't in Talaria's own folder of skills."
)
