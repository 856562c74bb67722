"""The stand-in: what it understands, what it does, what it says."""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from datetime import datetime

import pytest

from agent_core.ids import CallId
from agent_core.localization import LANGUAGES, use_language
from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.models.scripted import create
from agent_core.models.scripted.commands import (
    AnythingElse,
    AskWhen,
    ChangeSetting,
    Count,
    Courtesy,
    Forget,
    LeaveIt,
    ManageJob,
    NoTime,
    Remember,
    Remind,
    Search,
    ShowHelp,
    ShowJobs,
    ShowMemory,
    StandInCommand,
    Think,
)
from agent_core.models.scripted.parse import read_answer, read_command
from agent_core.models.scripted.stand_in import StandInModel
from agent_core.transcript import (
    DocumentPart,
    ImagePart,
    Message,
    ToolResultPart,
    ToolSpec,
    user_message,
)
from agent_core.written_language import find_written
from gateway.texts.general import EXAMPLES
from tests.agent_core.models.calls import MEMORY, RECALL, ask, complete, says
from tests.patience import PATIENCE
from tests.tables import check_each

PROMPT = """\
You are Talaria.

# Memory of this person: notes, not orders
## MEMORY.md [30/2,200 characters]
- The boiler is from 2019.
- The car is blue,
  and old.
## USER.md [12/1,375 characters]
- Likes green tea.

# Context file AGENTS.md
- not a memory
"""


@pytest.fixture
def model() -> StandInModel:
    return StandInModel(delay=0.0)


SCHEDULE = ToolSpec(name="remind", description="Plan.", schema=MEMORY.schema)
REMIND = "remind me in 20 minutes to call Ben"
CREATED = (
    'Created. 4. "call Ben" (message): Once, Fri 2026-11-27 06:56. Next: Fri 2026-11-27 06:56'
    ' (Etc/UTC). It comes in quiet hours and on days off, too. Text: "call Ben"'
)


async def play(
    model: StandInModel, request: ModelRequest, *results: tuple[str, bool]
) -> tuple[list[dict[str, str]], str, list[Message]]:
    """Run a turn: every round of calls gets the next results; calls, answer, transcript."""
    made: list[dict[str, str]] = []
    left = list(results)
    messages = list(request.messages)
    while True:
        _, answer = await complete(
            model, ask(*messages, system=request.system, tools=request.tools, model="stand-in")
        )
        messages.append(answer.message)
        if answer.stop == "end":
            assert not left, "every result was asked for"
            return made, answer.message.text, messages
        parts = []
        for call in answer.message.calls:
            made.append({"name": call.name, **json.loads(call.arguments)})
            text, is_error = left.pop(0)
            parts.append(
                ToolResultPart(call_id=call.call_id, name=call.name, text=text, is_error=is_error)
            )
        messages.append(Message(role="tool", parts=tuple(parts)))


SUNDAY = datetime(2026, 11, 22, 22, 4)


REMINDERS = (
    (
        "remind me tomorrow at 9 to feed the dog",
        Remind(text="feed the dog", at="2026-11-23T09:00"),
    ),
    (
        "Remind me to feed the dog tomorrow at 9.",
        Remind(text="feed the dog", at="2026-11-23T09:00"),
    ),
    ("tomorrow at 9am remind me to eat", Remind(text="eat", at="2026-11-23T09:00")),
    ("remind me at 9 to eat", Remind(text="eat", at="2026-11-23T09:00")),
    ("remind me at 11:30 pm to sleep", Remind(text="sleep", at="2026-11-22T23:30")),
    ("remind me on Friday at noon to pay", Remind(text="pay", at="2026-11-27T12:00")),
    ("remind me on sunday at 8 to rest", Remind(text="rest", at="2026-11-29T08:00")),
    ("remind me on 2026-12-24 at 18:00: sing", Remind(text="sing", at="2026-12-24T18:00")),
    ("every weekday at 8 check the mail", Remind(text="check the mail", cron="0 8 * * 1-5")),
    ("every weekday at 8: check mail", Remind(text="check mail", cron="0 8 * * 1-5")),
    ("remind me every weekend at 10 to bake", Remind(text="bake", cron="0 10 * * 6,0")),
    ("every monday and thursday at 8:30 run", Remind(text="run", cron="30 8 * * 1,4")),
    ("remind me every 2 hours to drink", Remind(text="drink", every_minutes=120)),
    ("remind me in an hour to call", Remind(text="call", in_minutes=60)),
    (
        "Erinnere mich morgen um 9, den Hund zu füttern",
        Remind(text="den Hund zu füttern", at="2026-11-23T09:00"),
    ),
    ("jeden Werktag um 8 Post holen", Remind(text="Post holen", cron="0 8 * * 1-5")),
    (
        "remind me every 2 days at 8 to stretch",
        Remind(text="stretch", rule="FREQ=DAILY;INTERVAL=2", times="08:00"),
    ),
    (
        "Erinnere mich jeden zweiten Tag um 8 Uhr ans Dehnen",
        Remind(text="Dehnen", rule="FREQ=DAILY;INTERVAL=2", times="08:00"),
    ),
    (
        "erinnere mich am ersten Montag im Monat um 9 an die Miete",
        Remind(text="Miete", cron="0 9 * * 1#1"),
    ),
    ("remind me every 2 days to stretch", Remind(text="stretch", every_minutes=2880)),
    ("remind me tomorrow evening to call", Remind(text="call", at="2026-11-23T20:00")),
    ("remind me to call tomorrow evening", Remind(text="call", at="2026-11-23T20:00")),
    ("remind me at 7 tomorrow evening to call", Remind(text="call", at="2026-11-23T19:00")),
    ("remind me on friday morning to pay", Remind(text="pay", at="2026-11-27T08:00")),
    ("set a reminder for tomorrow at 9 to pay", Remind(text="pay", at="2026-11-23T09:00")),
    ("set a timer for 10 minutes", Remind(text="Time's up", in_minutes=10)),
    ("wake me tomorrow at 7", Remind(text="Wake up", at="2026-11-23T07:00")),
    ("remind me every morning to stretch", Remind(text="stretch", cron="0 8 * * *")),
    ("erinnere mich morgen abend an Tee", Remind(text="Tee", at="2026-11-23T20:00")),
    ("erinnere mich am Freitagabend an Tee", Remind(text="Tee", at="2026-11-27T20:00")),
    ("Erinnere mich morgen um 9 an den Müll", Remind(text="Müll", at="2026-11-23T09:00")),
    (
        "Erinnere mich morgen um 9 an meine Pillen",
        Remind(text="meine Pillen", at="2026-11-23T09:00"),
    ),
    ("Erinnere mich an Tee morgen um 10", Remind(text="Tee", at="2026-11-23T10:00")),
    (
        "Kannst du mich morgen früh um 7 daran erinnern, Tee zu kaufen?",
        Remind(text="Tee zu kaufen", at="2026-11-23T07:00"),
    ),
    ("Stell einen Timer auf 10 Minuten", Remind(text="Die Zeit ist um", in_minutes=10)),
)


def test_a_reminder_is_for_the_time_that_was_named() -> None:
    def check(row: tuple[str, Remind]) -> None:
        words, reminder = row
        assert read_command(words, SUNDAY) == reminder

    check_each(REMINDERS, check)


def test_a_part_of_the_time_that_is_not_understood_is_named() -> None:
    def check(row: tuple[str, str, str]) -> None:
        words, read, unread = row
        command = read_command(words, SUNDAY)
        assert isinstance(command, NoTime)
        assert (command.read, command.unread) == (read, unread)

    rows = (
        (
            "remind me every weekday at 8 except on full moon to run",
            "every weekday at 8",
            "except on full moon",
        ),
        (
            "erinnere mich jeden Montag außer in den Ferien an Mathe",
            "jeden Montag",
            "außer in den Ferien",
        ),
        ("remind me every Monday before work to water the plants", "every Monday", "before work"),
        ("remind me tomorrow and on Friday at 9 to call", "tomorrow", "and on Friday at 9"),
        ("remind me every hour between 22 and 6 to turn", "every hour", "between 22 and 6"),
        ("remind me every full moon to howl", "", "every full moon"),
        ("remind me two days before Christmas to shop", "", "two days before Christmas"),
    )
    check_each(rows, check)


def test_a_rule_in_a_wish_is_read_with_its_text() -> None:
    def check(row: tuple[str, str, str]) -> None:
        words, time, text = row
        assert read_command(words, SUNDAY) == Remind(text=text, words=time)

    rows = (
        ("weekdays at 7:30 except Friday", "to run", "run"),
        ("jeden Werktag außer Freitag um 7", "ans Laufen", "Laufen"),
        ("every day but Sunday at 9", "to run", "run"),
        ("täglich um 9 außer am Wochenende", "an die Tabletten", "Tabletten"),
        ("alle 2 stunden von 9 bis 17 uhr", "ans trinken", "trinken"),
        ("every 90 minutes between 9 and 5", "to stretch", "stretch"),
        ("on the second and fourth Wednesday at 8", "for the bins", "the bins"),
        ("jeden zweiten und vierten Mittwoch", "an die Tonne", "Tonne"),
        ("jeden 1. und 15. des Monats", "an die Miete", "Miete"),
        ("two days before 24 December", "to buy gifts", "buy gifts"),
        ("am Tag vor dem 24. Dezember um 18 Uhr", "ans Packen", "Packen"),
        ("every day at 8 and 20", "for the pills", "the pills"),
    )
    check_each([(f"remind me {time} {rest}", time, text) for time, rest, text in rows], check)


def test_an_end_behind_the_text_ends_what_repeats() -> None:
    def check(row: tuple[str, str, str, str]) -> None:
        often, link, text, end = row
        command = read_command(f"{often} {link} {text} {end}", SUNDAY)
        time = often.removeprefix("remind me ").removeprefix("erinnere mich ")
        assert command == Remind(text=text, words=f"{time} {end}")

    rows = (
        ("erinnere mich täglich um 8", "an", "Tabletten", "bis Freitag"),
        ("erinnere mich täglich um 8", "an", "Tabletten", "bis Ende des Monats"),
        ("erinnere mich jeden Tag um 8", "an", "Tabletten", "zwei Wochen lang"),
        ("remind me every day at 8", "to", "take pills", "until Friday"),
        ("remind me every day at 8", "to", "take pills", "for two weeks"),
        ("remind me every 2 hours", "to", "drink", "until 31 December"),
        ("remind me every Monday at 9 Tokyo time", "to", "sing", "until 31 December"),
    )
    check_each(rows, check)


def test_what_is_no_end_of_a_repetition_stays_in_the_text() -> None:
    def check(words: str) -> None:
        command = read_command(f"remind me {words}", SUNDAY)
        assert isinstance(command, Remind)
        assert command.text == words.split(" to ", 1)[1]

    rows = (
        "tomorrow to finish the report until Friday",
        "in 5 minutes to wait until Friday",
        "every Monday to plan until Friday's meeting",
        "every Monday to walk for 2 hours",
        "every day at 8 to stretch 5 times",
        "every Friday at 9 to book a car for 3 days",
        "every Friday at 9 to check that the shop is open until Friday",
    )
    check_each(rows, check)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("remind me at 9 for yoga", "yoga"),
        ("remind me for yoga tomorrow at 9", "yoga"),
        ("erinnere mich um 9 ans Trinken", "Trinken"),
        ("erinnere mich morgen um 8 zum Arzt zu gehen", "zum Arzt zu gehen"),
        ("remind me tomorrow at 8 to call for a taxi", "call for a taxi"),
    ],
)
def test_the_little_word_before_a_text_is_no_part_of_it(words: str, text: str) -> None:
    command = read_command(words, SUNDAY)
    assert isinstance(command, Remind)
    assert command.text == text


@pytest.mark.parametrize(
    "words",
    [
        "remind me at 25 to wake up",
        "remind me sometime to call",
        "tomorrow is nice",
        "Every day I run",
        "on holiday I swim",
        "remind me every 2 hours at 8 to stretch",
        "erinnere mich jeden Montag um 8 und Dienstag um 9 an Sport",
        "remind me 10 minutes before 5 to leave",
    ],
)
def test_what_names_no_time_is_no_reminder(words: str) -> None:
    assert isinstance(read_command(words, SUNDAY), AnythingElse)


async def test_a_wish_whose_time_cannot_be_read_is_refused_with_a_sentence() -> None:
    for words, refusal in (
        ("remind me every 2 hours at 8 to stretch", "I've set no reminder, because I don't"),
        ("Bitte erinnere mich bald an Tee", "Ich habe keine Erinnerung angelegt, weil ich die"),
    ):
        assert isinstance(read_command(words, SUNDAY), NoTime), words
        with use_language(find_written(words)):
            said, _ = await complete(StandInModel(delay=0.0), ask(words))
        assert said.startswith(refusal)


async def test_a_wish_without_a_time_is_asked_for_it_and_the_answer_sets_it() -> None:
    for words, answer, question, text in (
        ("remind me to call Bob", "tomorrow at 9", "When should I remind you?", "call Bob"),
        ("erinnere mich an den Müll", "in 20 Minuten", "Wann soll ich dich", "Müll"),
    ):
        wish = read_command(words, SUNDAY)
        assert isinstance(wish, AskWhen), words
        with use_language(find_written(words)):
            said, _ = await complete(StandInModel(delay=0.0), ask(words))
        assert said.startswith(question)
        planned = read_answer(answer, wish, SUNDAY)
        assert isinstance(planned, Remind)
        assert planned.text == text
        assert isinstance(read_answer("never mind", wish, SUNDAY), LeaveIt)
        assert read_answer("what do you know about me?", wish, SUNDAY) is None


def test_the_reminder_of_somebody_else_is_named_as_theirs() -> None:
    said = 'that job was created by "Lena"; only they and owners may change it'
    result = ToolResultPart(call_id=CallId("c"), name="manage_jobs", text=said, is_error=True)
    told = ManageJob(action="delete", words="the piano").report(result)
    assert told == "That reminder belongs to Lena. Only they or an owner can change it."


def test_a_reminder_that_stays_as_it_is_says_why() -> None:
    def report(said: str) -> str:
        said = f"`manage_jobs` was not run: {said}"
        result = ToolResultPart(call_id=CallId("c"), name="manage_jobs", text=said, is_error=True)
        return ManageJob(action="delete", words="dentist").report(result)

    assert report('no job fits "dentist"; there are: none') == (
        "I changed nothing, because none of your reminders fits “dentist”. /reminders lists them."
    )
    assert report('"dentist" names no single job of: 4. "dentist, Ann"; 7. "a \\"b\\" 3. c"') == (
        "I changed nothing, because “dentist” fits several of your reminders. Say it again with the"
        ' number of one:\n- dentist, Ann (4)\n- a "b" 3. c (7)'
    )
    assert report("31 February never occurs.") == (
        "I changed no reminder. 31 February never occurs."
    )


def test_every_example_of_the_greeting_is_understood_in_each_language() -> None:
    for language in LANGUAGES:
        with use_language(language):
            examples = [example().strip("“”„") for example in EXAMPLES]
        found = [type(read_command(example, SUNDAY)) for example in examples]
        assert found == [Remind, Remember, ShowMemory], examples


PLAIN_WORDS = (
    ("remember that I like tea", Remember(target="memory", text="I like tea")),
    ("Remember: the code is 7.", Remember(target="memory", text="the code is 7")),
    ("please remember the boiler", Remember(target="memory", text="the boiler")),
    ("Could you remember that x", Remember(target="memory", text="x")),
    ("don't forget that x", Remember(target="memory", text="x")),
    ("note down: x", Remember(target="memory", text="x")),
    ('remember "to be"', Remember(target="memory", text="to be")),
    ("remember about me: I am a nurse", Remember(target="user", text="I am a nurse")),
    ("My name is Ana!", Remember(target="user", text="Name: Ana")),
    ("remember that my name is Ana", Remember(target="user", text="Name: Ana")),
    ("call me Al", Remember(target="user", text="Wants to be called Al")),
    ("remind me in 20 minutes to call Ben", Remind(text="call Ben", in_minutes=20)),
    ("please remind me in 2 hours: tea", Remind(text="tea", in_minutes=120)),
    ("every Monday at 8 water the plants", Remind(text="water the plants", cron="0 8 * * 1")),
    (
        "On the last working day of the month at 9: send the bill",
        Remind(text="send the bill", cron="0 9 LW * *"),
    ),
    (
        "remind me on the last day of every month at 17:30 to count",
        Remind(text="count", cron="30 17 L * *"),
    ),
    ("remind me every day at 18:30 to read", Remind(text="read", cron="30 18 * * *")),
    ("show my reminders", ShowJobs()),
    ("what reminders do I have?", ShowJobs()),
    ("Welche Erinnerungen habe ich?", ShowJobs()),
    ("cancel the bins", ManageJob(action="delete", words="bins")),
    ("lösch die müll erinnerung", ManageJob(action="delete", words="müll")),
    ("move the dentist to 10", ManageJob(action="change", words="dentist", when="10")),
    (
        "verschieb den zahnarzt auf 10 uhr",
        ManageJob(action="change", words="zahnarzt", when="10 uhr"),
    ),
    ("forget tea", Forget(words="tea")),
    ("Forget that I like tea.", Forget(words="I like tea")),
    ("forget about the car", Forget(words="the car")),
    ("recall tea", Search(query="tea")),
    ("search for green tea", Search(query="green tea")),
    ("find the code", Search(query="the code")),
    ("What did I say about tea?", Search(query="tea")),
    ("what did I tell you about the boiler", Search(query="the boiler")),
    ("when did I mention Paris?", Search(query="Paris")),
    ("do you remember what I said about tea?", Search(query="tea")),
    ("what do you know about me?", ShowMemory()),
    ("What do you remember?", ShowMemory()),
    ("show me your memory", ShowMemory()),
    ("count to 5", Count(to=5)),
    ("zähl bis 20", Count(to=20)),
    ("Count slowly to 99999", Count(to=1000)),
    ("count from 1 to 3", Count(to=3)),
    ("count to 0", Count(to=1)),
    ("think for 3 seconds", Think(seconds=3)),
    ("think 2 minutes", Think(seconds=120)),
    ("think for 9999 m", Think(seconds=600)),
    ("help", ShowHelp()),
    ("What can you do?", ShowHelp()),
    ("hello", Courtesy(kind="hello", words="hello")),
    ("Guten Morgen!", Courtesy(kind="hello", words="Guten Morgen")),
    ("thanks a lot", Courtesy(kind="thanks", words="thanks a lot")),
    ("Danke dir!", Courtesy(kind="thanks", words="Danke dir")),
    ("okay.", Courtesy(kind="fine", words="okay")),
    ("I live in Vienna", ChangeSetting(name="time_zone", value="Vienna")),
    ("set my time zone to New York", ChangeSetting(name="time_zone", value="New York")),
    ("Ich wohne in Wien", ChangeSetting(name="time_zone", value="Wien")),
    ("speak German please", ChangeSetting(name="language", value="German")),
    ("please speak German", ChangeSetting(name="language", value="German")),
    ("sprich bitte Deutsch", ChangeSetting(name="language", value="Deutsch")),
    ("no messages between 22 and 7", ChangeSetting(name="quiet_hours", value="22-7")),
    ("Ruhezeiten 22-7", ChangeSetting(name="quiet_hours", value="22-7")),
    ("I remember that well", AnythingElse(words="I remember that well")),
    ("remember", AnythingElse(words="remember")),
    ("count to a million", AnythingElse(words="count to a million")),
    ("remember " + "x" * 5000, AnythingElse(words="remember " + "x" * 5000)),
    ("\u200f\u202eשלום 👩‍👩‍👧", AnythingElse(words="\u200f\u202eשלום 👩‍👩‍👧")),
)


SETTINGS: Mapping[str, Sequence[tuple[str, str]]] = {
    "quiet_hours": (
        ("change my quiet hours to 23-6", "23-6"),
        ("set quiet hours from 23 to 6", "23 to 6"),
        ("my quiet hours are 22:00-07:00", "22:00-07:00"),
        ("make my quiet hours 10pm to 7am", "10pm to 7am"),
        ("please don't disturb me between 22 and 7", "22-7"),
        ("no messages from 10pm to 6am please", "10pm to 6am"),
        ("turn off quiet hours", ""),
        ("remove my quiet hours", ""),
        ("Ändere meine Ruhezeiten auf 23-6", "23-6"),
        ("Stell meine Ruhezeit auf 22 bis 7 Uhr", "22 bis 7 Uhr"),
        ("keine Nachrichten zwischen 22 und 7", "22-7"),
        ("bitte von 22 bis 7 Uhr nicht stören", "22 bis 7 Uhr"),
        ("Stör mich nicht von 22 bis 7", "22 bis 7"),
        ("Schreib mir von 22 bis 7 nicht", "22 bis 7"),
        ("Ich möchte von 22 bis 7 Uhr nicht gestört werden", "22 bis 7 Uhr"),
        ("Ich will zwischen 22 und 7 meine Ruhe", "22-7"),
        ("Schalte die Ruhezeiten aus", ""),
        ("Ruhezeiten aus", ""),
    ),
    "language": (
        ("change my language to German", "German"),
        ("talk to me in German from now on", "German"),
        ("Can you speak German?", "German"),
        ("Stell die Sprache auf Englisch", "Englisch"),
        ("Sprache: Englisch", "Englisch"),
        ("Sprich bitte Deutsch mit mir", "Deutsch"),
        ("Kannst du Deutsch sprechen?", "Deutsch"),
        ("Ich möchte lieber Deutsch", "Deutsch"),
    ),
    "time_zone": (
        ("change my time zone to New York", "New York"),
        ("I live in Lisbon now", "Lisbon"),
        ("We moved to Madrid", "Madrid"),
        ("Ändere die Zeitzone auf Berlin", "Berlin"),
        ("Ich bin jetzt in Rom", "Rom"),
        ("Ich bin nach Hamburg gezogen", "Hamburg"),
        ("my city is Vienna", "Vienna"),
        ("Stadt: Wien", "Wien"),
    ),
    "days_off": (
        ("my days off are saturday and sunday", "saturday,sunday"),
        ("Meine freien Tage sind Samstag und Sonntag", "Samstag,Sonntag"),
    ),
}


def test_settings_in_words_are_understood() -> None:
    def check(row: tuple[str, str, str]) -> None:
        name, words, value = row
        command = read_command(words)
        assert isinstance(command, ChangeSetting)
        assert (command.name, command.value) == (name, value)

    check_each([(name, *one) for name, rows in SETTINGS.items() for one in rows], check)


def test_words_that_only_sound_like_a_setting_change_none() -> None:
    def check(words: str) -> None:
        assert not isinstance(read_command(words), ChangeSetting)

    others = ("I'm in trouble", "say it in German", "move the dentist to 10:30", "ich bin in Eile")
    others += ("Schreib mir zwischen 8 und 20 Uhr", "Ich möchte von 8 bis 9 Nachrichten")
    others += ("ich will 5 bis 6", "move my city tour to Friday", "the city is beautiful")
    check_each((*others, "cancel the quiet evening", "ich will nach Berlin"), check)


def test_plain_words_are_understood() -> None:
    def check(row: tuple[str, StandInCommand]) -> None:
        words, command = row
        assert read_command(words) == command

    check_each(PLAIN_WORDS, check)


def test_a_megabyte_of_words_is_read_at_once() -> None:
    start = time.perf_counter()
    for words in ("remember " * 120_000, "please " * 150_000, "x" * 1_000_000):
        assert isinstance(read_command(words), AnythingElse)
    assert time.perf_counter() - start < PATIENCE, "a pattern backtracks"


async def test_it_remembers_by_the_memory_tool_and_says_so(model: StandInModel) -> None:
    made, text, _ = await play(
        model, ask("remember that I like tea"), ("Added to `memory`. It holds 1 entry.", False)
    )
    assert made == [{"name": "memory", "action": "add", "target": "memory", "text": "I like tea"}]
    assert text == "I'll remember that."


async def test_what_the_tool_refuses_is_told(model: StandInModel) -> None:
    _, text, _ = await play(model, ask("remember x"), ("Refused: it is full.", True))
    assert "couldn't save" in text
    assert "Refused: it is full." in text
    _, text, _ = await play(model, ask("remember x"), ("Nothing to do: it says so", False))
    assert text == "I knew that already: “x”."


async def test_it_forgets_the_one_entry_that_fits(model: StandInModel) -> None:
    made, text, _ = await play(
        model, ask("forget GREEN TEA", system=PROMPT), ("Removed from `user`.", False)
    )
    assert made == [
        {"name": "memory", "action": "remove", "target": "user", "old": "Likes green tea."}
    ]
    assert text == "All right."


async def test_it_asks_which_entry_to_forget(model: StandInModel) -> None:
    made, text, _ = await play(model, ask("forget the", system=PROMPT))
    assert made == []
    assert "- The boiler is from 2019." in text
    assert "- The car is blue" in text


async def test_what_it_can_not_see_it_tries_to_forget_in_both_places(model: StandInModel) -> None:
    failed = ("Refused: `old` fits no entry.", True)
    made, text, _ = await play(model, ask("forget rain"), failed, ("Removed.", False))
    assert [call["target"] for call in made] == ["memory", "user"]
    assert text == "All right."
    made, text, _ = await play(model, ask("forget rain"), ("Removed.", False))
    assert len(made) == 1
    _, text, _ = await play(model, ask("forget rain"), failed, failed)
    assert text == "I don't have “rain” in my memory."


async def test_it_searches_and_lists_what_was_found(model: StandInModel) -> None:
    found = (
        "Found 2 messages for: tea. Best first."
        '\n- 2026-01-01 10:00, person, telegram, A: "find \\"green\\" tea"'
        '\n+ 2026-01-01 09:00, person, telegram, A: "next to it"'
        '\n- 2026-01-01 10:01, you, telegram: "It is in the kitchen."'
        "\nA, 2026-01-01 09:00 to 2026-01-01 10:01"
    )
    made, text, _ = await play(model, ask("what did I say about tea?"), (found, False))
    assert made == [{"name": "recall", "query": "tea"}]
    assert text.splitlines() == [
        "This is what I found about “tea”:",
        '- 2026-01-01 10:00, you: “find "green" tea”',
        "- 2026-01-01 10:01, me: “It is in the kitchen.”",
    ]
    _, text, _ = await play(model, ask("find tea"), ("Nothing found for: tea.", False))
    assert text == "I looked for “tea” and found nothing."


async def test_it_shows_the_memory_of_its_prompt(model: StandInModel) -> None:
    _, text, _ = await play(model, ask("what do you know about me?", system=PROMPT))
    assert text == (
        "About you:\n- Likes green tea.\nWhat I keep in mind:\n"
        "- The boiler is from 2019.\n- The car is blue,\nand old."
    )
    _, text, _ = await play(model, ask("what do you know about me?"))
    assert text.startswith("I don't remember anything about you yet.")


async def test_what_changed_in_this_session_is_known_too(model: StandInModel) -> None:
    request = ask("remember about me: I am a nurse", system=PROMPT)
    _, _, messages = await play(model, request, ("Added.", False))
    request = ask(*messages, "forget tea", system=PROMPT)
    _, _, messages = await play(model, request, ("Removed.", False))
    request = ask(*messages, "remember that it rains", system=PROMPT)
    _, _, messages = await play(model, request, ("Refused.", True))
    _, text, _ = await play(model, ask(*messages, "what do you remember?", system=PROMPT))
    assert "I am a nurse" in text
    assert "tea" not in text
    assert "rains" not in text


async def test_everything_written_since_the_last_answer_is_answered(model: StandInModel) -> None:
    words = ("remember that I like tea", "hello there", "my name is Ana", "and you?")
    made, text, _ = await play(model, ask(*words), ("Added.", False), ("Added.", False))
    assert [call["target"] for call in made] == ["memory", "user"]
    assert text.count("I'll remember that.") == 2
    for named in ("“hello there”", "“and you?”"):
        assert named in text


async def test_a_message_that_came_while_tools_ran_is_answered_too(model: StandInModel) -> None:
    _, first = await complete(model, ask("remember tea"))
    (call,) = first.message.calls
    done = Message(
        role="tool",
        parts=(ToolResultPart(call_id=call.call_id, name="memory", text="Added."),),
    )
    made, text, _ = await play(
        model, ask("remember tea", first.message, done, "find coffee"), ("Nothing found.", False)
    )
    assert made == [{"name": "recall", "query": "coffee"}]
    assert "I'll remember that." in text
    assert "coffee" in text


async def test_it_says_what_it_is_and_lists_what_it_can_only_once(model: StandInModel) -> None:
    _, text, messages = await play(model, ask(user_message("hi", facts="<facts>Monday</facts>")))
    for part in ("stand-in", "An owner connects one", "“hi”", "count to 20"):
        assert part in text
    assert "Monday" not in text
    _, text, _ = await play(model, ask(*messages, "hi again"))
    assert text == (
        "I can only do simple things so far: no language model is connected. An owner connects one"
        " on the console page, under Model, or with `talaria setup`. You wrote: “hi again”."
    )


async def test_thanks_are_answered_shortly_even_first(model: StandInModel) -> None:
    _, text, messages = await play(model, ask("Thanks!"))
    assert text == "You're welcome!"
    _, text, _ = await play(model, ask(*messages, "hi"))
    assert "stand-in" in text


async def test_long_words_are_quoted_in_part(model: StandInModel) -> None:
    _, text, _ = await play(model, ask("word " * 10_000))
    assert len(text) < 1500


async def test_without_the_tool_it_says_so(model: StandInModel) -> None:
    made, text, _ = await play(model, ask("remember that I like tea", tools=(RECALL,)))
    assert made == []
    assert text == "I can't do that in this chat."


async def test_a_message_without_words_gets_an_answer(model: StandInModel) -> None:
    _, text, _ = await play(model, ask(user_message("", facts="<facts>a sticker</facts>")))
    assert "no language model is connected" in text


async def test_counting_streams_number_by_number() -> None:
    model = StandInModel(delay=0.01)
    pieces = [piece async for piece in model.stream(ask("count to 5"))]
    *deltas, answer = pieces
    assert [d.text for d in deltas if isinstance(d, TextDelta)] == ["1", " 2", " 3", " 4", " 5"]
    assert isinstance(answer, ModelAnswer)
    assert answer.message.text == "1 2 3 4 5"


async def test_thinking_can_be_cut_short() -> None:
    model = StandInModel(delay=0.01)
    task = asyncio.create_task(complete(model, ask("think for 60 seconds")))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_the_same_request_gets_the_same_answer_and_tokens_are_estimated(
    model: StandInModel,
) -> None:
    request = ask("remember that I like tea", "find x", says("ok"), "remember that I like tea")
    first = await complete(model, request)
    assert first == await complete(StandInModel(delay=0.0), request)
    usage = first[1].usage
    assert usage.input_tokens > len(MEMORY.schema + RECALL.schema) // 4
    assert usage.output_tokens > 0


async def test_it_is_made_without_settings() -> None:
    model = create(None)
    assert isinstance(model, StandInModel)
    assert model.provider == "scripted"
    await model.check("anything")
    await model.close()


async def test_what_came_along_is_named(model: StandInModel) -> None:
    image = ImagePart(file_key="k", media_type="image/png", size=1)
    document = DocumentPart(name="“plan.pdf”", text="<attached-file>\nx\n</attached-file>")
    text, _ = await complete(model, ask(user_message("", parts=(document, image))))
    assert "You wrote: “[a file: “plan.pdf”] [an image]”." in text
    text, _ = await complete(model, ask(user_message("and this?", parts=(image,))))
    assert "You wrote: “and this? [an image]”." in text
    text, _ = await complete(model, ask(user_message("count to 3", parts=(image,))))
    assert text == "1 2 3"


@pytest.mark.parametrize(
    ("words", "result", "reply"),
    [
        (
            REMIND,
            (CREATED, False),
            "I'll remind you.",
        ),
        (
            REMIND,
            ("No job was created. The person said no.", False),
            "I haven't set the reminder “call Ben”.",
        ),
        (
            REMIND,
            ("No job was created. They did not choose, but wrote something else: read it.", False),
            (
                "You sent another message instead of answering my question, so I haven't set the"
                " reminder “call Ben”. Say it again if you still want it."
            ),
        ),
        (
            REMIND,
            ("`remind` was not run: it is late.", True),
            "I haven't set a reminder. It is late.",
        ),
        (
            REMIND,
            ("`remind` was not run: `when` can't be read: 'x', because 'x' is not cron.", True),
            (
                "I've set no reminder, because I can't read the time in “in 20 minutes”. Write it"
                " like “remind me tomorrow at 9:00 to stretch”, or “24 December at 18:00”."
            ),
        ),
        (
            REMIND,
            ("`remind` was not run: that time is past.", True),
            "I haven't set a reminder. That time is past. Choose a later one.",
        ),
        (
            "forget the boiler",
            ("Refused: it waits for a yes.", True),
            "I couldn't remove “the boiler” from my memory. Refused: it waits for a yes.",
        ),
    ],
)
async def test_replies_are_for_people(
    model: StandInModel, words: str, result: tuple[str, bool], reply: str
) -> None:
    _, said, _ = await play(model, ask(words, system=PROMPT, tools=(MEMORY, SCHEDULE)), result)
    assert said == reply


def test_a_reminder_that_nobody_meant_is_said_to_be_unchanged() -> None:
    said = "Nothing was changed. The person meant none of the jobs."
    result = ToolResultPart(call_id=CallId("c"), name="manage_jobs", text=said)
    assert ManageJob(action="delete", words="pay rent").report(result) == "I changed no reminder."


def test_a_new_time_that_cannot_be_read_is_named() -> None:
    said = "`manage_jobs` was not run: `when` can't be read: 'blursday'. The nearest forms are …"
    result = ToolResultPart(call_id=CallId("c"), name="manage_jobs", text=said, is_error=True)
    assert ManageJob(action="change", words="rent", when="blursday").report(result) == (
        "I changed nothing, because I can't read the time in “blursday”. Write it like “tomorrow"
        " at 9:00”, or “in 20 minutes”."
    )


def test_a_list_of_reminders_says_when_they_come() -> None:
    listed = (
        '4. "Call Ada" (message): Once, Mon 2026-11-23 09:00. Next: Mon 2026-11-23 09:00 (Vienna).'
        ' Text: "Call Ada"\n5. "Digest" (prompt): After reminder 4 is done. Next: when it happens.'
        ' Text: "Sum up."'
    )
    result = ToolResultPart(call_id=CallId("c"), name="manage_jobs", text=listed)
    for language, first in (
        ("en", "- tomorrow, 9:00: Call Ada"),
        ("de", "- morgen, 9:00: Call Ada"),
    ):
        with use_language(language):
            lines = ShowJobs(now=SUNDAY).report(result).splitlines()
        assert lines[:2] == [first, "- Digest"]


async def test_it_introduces_itself_once_whatever_language_comes_next(model: StandInModel) -> None:
    with use_language("de"):
        _, text, messages = await play(model, ask("hallo"))
    assert text.startswith("Ich bin nur Talarias Platzhalter")
    with use_language("en"):
        _, text, _ = await play(model, ask(*messages, "hi again"))
    assert text.startswith("I can only do simple things so far")
