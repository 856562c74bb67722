"""Every sentence that the program itself says to a person."""

from collections.abc import Sequence
from dataclasses import dataclass

from adapters.messages import Step, StepState

CLAIMED = "You are the owner of this house now. Write me anything; /help shows what I can do."
CODE_UNKNOWN = "That code is not good (any more). Codes work once and expire; ask for a new one."
CODE_MISSING = "Add the code, for instance: /{command} ABCD-EFGH"
OWNER_ONLY = "Only the owner of this house may do that."
APPROVED = "{name} may talk to me now."
WELCOME = "You may talk to me now. Write me anything; /help shows what I can do."
CODE_PAUSE = "That code is not good either. I look at no more codes of yours for ten minutes."
CLAIM_IN_ROOM = (
    "Others have read that code here, so it is not good any more. `talaria people claim` makes a"
    " new one: send it to me in a direct message."
)
NEW = "A fresh start: what was said before stays findable, what I remember of you stays."
SET = "Done."
SETTING_MISSING = "Write what it should be, or off: /settings {name} …"
VERBOSE_HOW = "Write /verbose on or /verbose off."
VERBOSITIES = {
    "quiet": "Answers only",
    "normal": "A line if it takes long",
    "verbose": "Every step",
}
QUIET_NIGHT = "Quiet from 22:00 to 07:00"
QUIET_OFF = "No quiet hours"
WEEKENDS_OFF = "Weekends off"
NO_DAYS_OFF = "No days off"
ZONE_OF_HOUSE = " (the house's; yours is not set)"
NOT_YOUR_TURN = "Somebody else asked for what I am doing: they, or an owner, can stop it."
NOT_YOURS_TO_MOVE = "Somebody else asked for what I am doing: it is answered where they asked."
HERE_NOTHING = "Nothing is running that could go on here."
STOPPED_NOTHING = "Nothing is running here."
RETRY_NOTHING = "There is nothing to retry here."
RETRY_RUNNING = "I am still at it. /stop ends it."
QUEUED = "Kept for later: I take it up when the present answer is done."
QUESTION_OVER = "(This needs no answer any more.)"
QUESTION_LATE = "(No answer came in time.)"
QUESTION_MOVED = "(Asked elsewhere now.)"
QUESTION_ABOVE = "What do you say to that?"
OWNER_ASKED = "An owner has to approve that. I have asked; this can take some minutes."
QUESTION_NOT_YOURS = "That question is not for you to answer."
EMPTY = "I got an empty message. Write what you need."
BROKEN = "Something went wrong on my side with that. It is noted; please try it another way."
DAMAGED_ANSWER = "An answer of mine was damaged on disk before you got it. Please ask me again."
UNKNOWN_COMMAND = "I don't know /{name}. /help lists what I know."
TOO_LONG = (
    "That message is {size:,} characters long; I read up to {limit:,} at once."
    " Please send the part that matters, or several pieces."
)

_TOOLS = {
    "ask": "Waiting for an answer",
    "memory": "Noting something",
    "recall": "Searching what was said",
    "schedule": "Seeing to a job",
    "send_file": "Writing a file",
    "settings": "Changing settings",
}
_PLATFORMS = {
    "telegram": "Telegram",
    "discord": "Discord",
    "slack": "Slack",
    "console": "the console",
}
_SIGNS: dict[StepState, str] = {"running": "⏳", "done": "✓", "failed": "✗"}
_SETTINGS_HOW = (
    "To change one: /settings time_zone Europe/Vienna, /settings language de,"
    " /settings quiet_hours 22:00-07:30, /settings days_off sat,sun, /settings context_cap 50000"
)
_REPEAT = "(Perhaps for the second time:)"
_STRANGER = (
    "I don't know you yet, so I can't answer. Ask my owner to send me:\n/approve {code}\n"
    "(good for one hour)"
)
_STRANGER_NO_OWNER = (
    "Nobody has claimed me yet. Whoever runs me finds a code where Talaria was started:"
    " send me /claim and that code."
)
_FAILED = {
    "model_busy": "The model can't be reached right now, and several tries did not help.",
    "model_cut": "The model's answer broke off, and several tries did not help.",
    "model_rejected": "The model refused the request as it stands.",
    "model_unknown": "The model that is set does not exist at the provider.",
    "model_denied": "The model's provider refuses the key that is set.",
    "overflow": "This conversation has grown longer than I may read at once, and could not be made"
    " shorter. /new starts afresh; everything said stays findable.",
    "empty": "The model gave no answer.",
    "length": "The answer grew longer than the model may write, before it said anything.",
    "crashed": "I was interrupted again and again while working on this, so I let it rest.",
    "off": "I was cut off while working on this, and could not go on at the next start.",
}
_EXHAUSTED = {
    "steps": "the number of steps that one turn may take",
    "tokens": "the number of tokens that one turn may use",
    "money": "the money that one turn may cost",
    "time": "the time that one turn may take",
    "no_progress": "the same step without progress too many times",
}
_CUT = {
    "length": "(The answer was cut at the longest length set for the model.)",
    "unknown_stop": "(The model stopped for a reason that I do not know.)",
}


def greet_stranger(code: str | None) -> str:
    """What someone unknown reads: with the code to be approved by, or that there is no owner."""
    return _STRANGER.format(code=code) if code else _STRANGER_NO_OWNER


def title_tool(name: str) -> str:
    """What a tool does, in the words of somebody who does it."""
    return _TOOLS.get(name, f"Using {name}")


def describe_steps(steps: Sequence[Step], seconds: int, *, is_whole: bool) -> str:
    """The line that tells what a running turn does; with `is_whole` every step in a line."""
    if is_whole:
        return "\n".join(f"{_SIGNS[step.state]} {step.title}" for step in steps)
    running = [step for step in steps if step.state == "running"]
    title = (running or list(steps))[-1].title
    return f"{_SIGNS['running']} {title}… ({seconds} s)"


def describe_settings(
    *, zone: str, language: str | None, hours: str, days_off: str, verbosity: str, cap: str
) -> str:
    """What a person has set, and how the rest is set."""
    return "\n".join(
        (
            f"- Time zone: {zone}",
            f"- Language: {language or 'the one you write in'}",
            f"- Quiet hours: {hours or 'none'}; then nothing rings",
            f"- Days off: {days_off or 'none'}; then nothing comes by itself",
            f"- While I work: {VERBOSITIES[verbosity].lower()}",
            f"- Of a talk I read at once: {cap}",
            "",
            _SETTINGS_HOW,
        )
    )


def describe_bad_setting(complaint: str) -> str:
    """Why a setting was not changed."""
    return f"Nothing was changed: {complaint}."


def compose_home(status: str, digests: str, settings: str) -> str:
    """The home page of an app: how it stands, what is coming, what is set."""
    return f"## Now\n\n{status}\n\n## Next digests\n\n{digests}\n\n## Settings\n\n{settings}"


def describe_move(platform: str) -> str:
    """What is left of a live message whose turn goes on elsewhere."""
    return f"(I go on with this in {name_platform(platform)}.)"


def describe_stop_elsewhere(platform: str) -> str:
    """That a turn was stopped from another place than the one where it is answered."""
    return f"Stopped what I was doing in {name_platform(platform)}."


def name_platform(platform: str) -> str:
    """A platform by the name that people know."""
    return _PLATFORMS.get(platform, platform)


def describe_unsent_files(names: Sequence[str]) -> str:
    """That files were made and can't be shown here."""
    return f"I made {', '.join(names)}, but files can't be sent here. Ask for them elsewhere."


def list_choices(question: str, labels: Sequence[str]) -> str:
    """A question with its choices in words, where buttons can't be shown."""
    lines = [f"{number}. {label}" for number, label in enumerate(labels, start=1)]
    return "\n".join([question, "", *lines, "", "Reply with the number."])


def close_question(question: str, outcome: str) -> str:
    """A question that is closed, with what came of it."""
    return f"{question}\n\n{outcome}"


def describe_choice(label: str, name: str) -> str:
    """What was chosen, and by whom."""
    return f"→ {label} ({name})"


def describe_failure(reason: str, turn_id: int, *, detail: str = "") -> str:
    """Why a turn failed, and what can be done."""
    sentence = _FAILED.get(reason, "Something went wrong on my side.")
    said = f" It said: {detail}" if detail and reason.startswith("model_") else ""
    return f"{sentence}{said} Nothing you wrote is lost: /retry tries again. (turn {turn_id})"


def describe_refused_begin(why: str) -> str:
    """That a message could not even be begun to work on; `why` is a clause, or empty."""
    reason = f": {why}." if why else "; something went wrong on my side."
    return f"I could not begin to work on that{reason} Send it again once that is mended."


def describe_damage(turn_id: int) -> str:
    """That what is on disk of a conversation can't be read or added to."""
    return (
        "I can't go on with that: what I have on disk of this conversation is damaged."
        f" Restore a backup, or start afresh with /new. (turn {turn_id})"
    )


def describe_refusal(category: str) -> str:
    """That the model declined, with the provider's word for why."""
    why = f" ({category})" if category else ""
    return f"The model declined to answer this{why}. Putting it in other words may help."


def describe_limit(reason: str, summary: str, turn_id: int) -> str:
    """An answer that a limit ended: the summary, and which limit it was."""
    limit = _EXHAUSTED.get(reason, "a limit")
    note = f"(I stopped here: this turn reached {limit}. “Go on” continues. Turn {turn_id}.)"
    return f"{summary}\n\n{note}" if summary else note


def describe_stop(shown: str, tools: Sequence[str]) -> str:
    """That the person ended a turn, with what was done until then."""
    done = f" Done until then: {', '.join(tools)}." if tools else ""
    note = f"(Stopped.{done})"
    return f"{shown}\n\n{note}" if shown else note


def note_cut(text: str, reason: str) -> str:
    """An answer with a note that it is not whole, where that is so."""
    note = _CUT.get(reason)
    return f"{text}\n\n{note}" if note else text


def note_repeat(text: str) -> str:
    """A message that is sent once more because nobody can tell whether it arrived."""
    return text if text.startswith(_REPEAT) else f"{_REPEAT}\n\n{text}"


def describe_dead(reason: str) -> str:
    """That an answer could not be delivered."""
    return f"An answer of mine could not be delivered here: {reason} /retry sends it again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What `/status` tells. Tokens and money are those of the last 24 hours."""

    model: str
    title: str
    messages: int
    is_running: bool
    waiting: int
    input_tokens: int
    cache_read_tokens: int
    output_tokens: int
    micro_dollars: int
    undelivered: int
    memory: str = ""
    """How the outside memory fares, if there is one."""


def describe_status(status: Status) -> str:
    """A few lines on what goes on, and what it cost."""
    doing = "at work" if status.is_running else "idle"
    if status.waiting:
        doing += f", {status.waiting} waiting"
    share = status.cache_read_tokens / status.input_tokens if status.input_tokens else 0.0
    lines = [
        f"**{status.title or 'This conversation'}**: {status.messages} messages, {doing}",
        f"Model: {status.model}",
        (
            f"Last 24 hours: {status.input_tokens:,} tokens read ({share:.0%} from the cache),"
            f" {status.output_tokens:,} written, ${status.micro_dollars / 1_000_000:.4f}"
        ),
    ]
    if status.memory:
        lines.append(status.memory)
    if status.undelivered:
        lines.append(f"Not delivered: {status.undelivered}; /retry sends them again.")
    return "\n".join(lines)


def count_queue(waiting: int) -> str:
    """How many messages wait, and how to add one."""
    how = "/queue and a text keeps it until the present answer is done."
    if not waiting:
        return f"Nothing waits. {how}"
    return f"{waiting} {'message waits' if waiting == 1 else 'messages wait'}. {how}"


def describe_person(name: str, role: str, accounts: Sequence[str], zone: str) -> str:
    """Who somebody is to this house."""
    return f"You are {name} ({role}).\nAccounts: {', '.join(accounts)}\nTime zone: {zone}"


def describe_commands(commands: Sequence[tuple[str, str]], *, more: int) -> str:
    """The list of commands; `more` of them are not in it."""
    lines = [f"/{name}: {summary}" for name, summary in commands]
    if more:
        lines += ["", f"/help all lists {more} more."]
    return "\n".join(["Write me anything. While I work, what you write steers me.", "", *lines])
