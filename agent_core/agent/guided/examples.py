"""The examples of guided mode: messages and what they ask for, as turns of a talk. Data.

Their facts and reminders are made up. No two are of one kind in one language.
"""

from agent_core.agent.guided.decisions import Decision

JSON_ENDING = "Answer with JSON."
"""What a message ends with that asks for a decision."""
WORDS_ENDING = (
    "Answer the message itself in words, in its language, in one to three sentences. What you know"
    " is about the person, not about you. Nothing was set, saved or changed, and nothing will be:"
    " neither say nor promise that."
)
_JOBS = "Reminders: 7 Gym; 9 Passport.\n"
_KNOWN = "You know: 1 Likes football. 2 Works as a teacher. 3 Cousin is called Ida.\n"


def _show(said: str, intent: str, before: str = "", **given: str) -> tuple[str, Decision]:
    return f"{before}Message: {said}", Decision(intent=intent, given=given)


EXAMPLES: tuple[tuple[str, Decision], ...] = (
    _show(
        "Remind me on Monday at 2 pm to pay the gas bill.",
        "remind_once",
        text="pay the gas bill",
        when="monday at 14:00",
    ),
    _show(
        "I don't need the gym reminder any longer.", "delete_reminder", which="7 Gym", before=_JOBS
    ),
    _show("You should know that I'm afraid of dogs.", "remember", fact="Is afraid of dogs."),
    _show("How do I get better at chess?", "chat"),
    _show(
        "I stopped teaching and bake bread for a living now.",
        "correct_memory",
        fact="Works as a baker.",
        old="2 Works as a teacher.",
        before=_KNOWN,
    ),
    _show(
        "Every Saturday at 10 text me: clean the kitchen",
        "remind_every",
        text="clean the kitchen",
        when="every saturday at 10:00",
    ),
    _show("What did my aunt say about the garden fence?", "search_past", words="aunt garden fence"),
    _show(
        "I must feed the cat in half an hour, don't let me forget.",
        "remind_once",
        text="feed the cat",
        when="in 30 minutes",
    ),
    _show(
        "The gym one should come an hour later, at 5 pm.",
        "move_reminder",
        which="7 Gym",
        when="at 17:00",
        before=_JOBS,
    ),
    _show(
        "Please don't keep in mind that I like football.",
        "forget",
        old="1 Likes football.",
        before=_KNOWN,
    ),
    _show(
        "Sag mir übermorgen um halb neun, dass ich zum Amt muss.",
        "remind_once",
        text="zum Amt gehen",
        when="the day after tomorrow at 08:30",
    ),
    _show(
        "Schreib auf: Der Schlüssel liegt unter der Matte.",
        "remember",
        fact="Der Schlüssel liegt unter der Matte.",
    ),
    _show("Ich hatte so einen langen Tag.", "chat"),
    _show("Was hast du dir für mich notiert?", "list_reminders", before=_JOBS),
    _show(
        "Am Dritten jedes Monats um 9: Zähler ablesen",
        "remind_every",
        text="Zähler ablesen",
        when="on day 3 of every month at 09:00",
    ),
    _show(
        "Leg den Sport auf viertel nach neun.",
        "move_reminder",
        which="7 Gym",
        when="at 09:15",
        before=_JOBS,
    ),
    _show(
        "Mach mit dem Sport Pause, bis ich mich melde.",
        "pause_reminder",
        which="7 Gym",
        before=_JOBS,
    ),
    _show("Wann wollte der Klempner kommen?", "search_past", words="Klempner"),
    _show("From now on answer in Italian.", "set_language", language="Italian"),
    _show("I live in Sydney now, set the clock right.", "set_time_zone", city="Sydney"),
    _show("Let me sleep from 11 pm to 6 am.", "set_quiet_hours", hours="23:00-06:00"),
    _show("Ab heute reden wir Polnisch.", "set_language", language="Polish"),
    _show(
        "Recuérdame cada noche a las 10 cerrar la puerta.",
        "remind_every",
        text="cerrar la puerta",
        when="every day at 22:00",
    ),
    _show("Ten en cuenta que soy alérgico al polen.", "remember", fact="Es alérgico al polen."),
    _show(
        "Mi prima ya no se llama Ida, ahora es Eva.",
        "correct_memory",
        fact="Cousin is called Eva.",
        old="3 Cousin is called Ida.",
        before=_KNOWN,
    ),
    _show(
        "Put the passport off until seven in the evening.",
        "move_reminder",
        which="9 Passport",
        when="at 19:00",
        before=_JOBS,
    ),
    _show("Ya tengo el pasaporte, quita eso.", "delete_reminder", which="9 Passport", before=_JOBS),
    _show("What is my cousin's name?", "chat", before=_KNOWN),
    _show("When do you tell me about the passport?", "list_reminders", before=_JOBS),
    _show("Last week I forgot my keys and had to wait outside.", "chat"),
    _show('What is "danke" in Finnish?', "chat"),
)
"""Each message with its decision."""
SPOKEN: tuple[tuple[str, str], ...] = (
    ("Message: Ich hatte so einen langen Tag.", "Das klingt anstrengend. Ruh dich gut aus!"),
    (f"{_KNOWN}Message: What is my cousin's name?", "Your cousin is called Ida."),
)
"""Messages with words as an answer."""
