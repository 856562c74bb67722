"""Sixty wishes of different people, each with the call that a model makes of it.

The clock stands at Friday, 2026-11-20, 13:00 in Berlin. Models paraphrase: they turn "I" into
"you", use other forms of the same words, add "Reminder:" or an emoji, and write times their way.
The last ten of each language were written before the rule and not looked at while it was tuned.
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A person's message, and the call that a model makes of it."""

    said: str
    tool: str
    given: dict[str, Any]


def _remind(said: str, text: str, when: str) -> Wish:
    return Wish(said=said, tool="remind", given={"text": text, "when": when})


def _keep(said: str, text: str, target: str = "user") -> Wish:
    return Wish(said=said, tool="memory", given={"action": "add", "target": target, "text": text})


def _note(said: str, text: str, *tags: str) -> Wish:
    given = {"action": "insert", "text": text, "tags": list(tags)}
    return Wish(said=said, tool="archive", given=given)


def _manage(said: str, action: str, job: str, **more: Any) -> Wish:
    return Wish(said=said, tool="manage_jobs", given={"action": action, "job": job, **more})


def _set(said: str, **given: Any) -> Wish:
    return Wish(said=said, tool="settings", given=given)


def _forget(said: str, old: str) -> Wish:
    given = {"action": "remove", "target": "user", "old": old}
    return Wish(said=said, tool="memory", given=given)


ENGLISH = (
    _remind("Remind me in 20 minutes to call Ada", "Call Ada", "in 20 minutes"),
    _remind(
        "thx! remind me tomorrow at 9 to pay the plumber", "Pay the plumber.", "tomorrow at 9:00"
    ),
    _remind(
        "can you remind me tonight at 8 to water the plants?",
        "Water the plants 🌱",
        "tonight at 20:00",
    ),
    _remind(
        "pls ping me at 5 so i leave for the train",
        "Time to leave for the train!",
        "2026-11-20T17:00",
    ),
    _remind(
        "Great summary. Now, set a reminder for Monday 10am: dentist.",
        "Reminder: dentist",
        "monday at 10:00",
    ),
    _remind(
        "don't let me forget to buy milk, tomorrow morning",
        "Don't forget to buy milk!",
        "tomorrow morning",
    ),
    _remind(
        "remind me on friday at 3pm that the car needs new tyres",
        "The car needs new tyres",
        "friday at 15:00",
    ),
    _remind("wake me up at 6:30 tomorrow", "Wake up! ⏰", "tomorrow at 6:30"),
    _remind(
        "ok cool. tomorrow noon remind me to send Tom the photos",
        "Send the photos to Tom.",
        "tomorrow at 12:00",
    ),
    _remind(
        "Could you nudge me in half an hour? I need to take the bread out of the oven.",
        "Take the bread out of the oven",
        "in 30 minutes",
    ),
    _remind(
        "Reminder pls: 24 december 18:00, light the candles",
        "Light the candles",
        "24 december at 18:00",
    ),
    _keep("Remember that I'm allergic to peanuts", "Is allergic to peanuts."),
    _keep("please note for later: my wife's name is Eva", "Wife's name is Eva."),
    _keep("keep in mind that we moved to Graz", "Moved to Graz."),
    _keep(
        "Remember: I prefer short answers without emojis.", "Prefers short answers without emojis."
    ),
    _note(
        "Save this for me: the wifi at the cabin is called Bear Lodge",
        "The wifi at the cabin is called Bear Lodge.",
        "wifi",
        "cabin",
    ),
    _manage("cancel the gym reminder", "delete", "gym"),
    _manage("move my haircut to saturday at 11", "change", "haircut", when="saturday at 11:00"),
    _set("I'm in Tokyo now, set my time zone", time_zone="Asia/Tokyo"),
    _set("talk to me in French from now on please", language="fr"),
    # Written before the rule, and not looked at while it was tuned.
    _remind(
        "Reading that took ages lol. anyway remind me in 2 hours to stretch",
        "Stretch",
        "in 2 hours",
    ),
    _remind("Set an alarm for 7am tomorrow, gym day", "Gym day! 💪", "tomorrow at 7:00"),
    _remind(
        "I promised Grandma a call. Remind me on Sunday at 4 pm.", "Call Grandma", "sunday at 16:00"
    ),
    _remind(
        "hey could you remind me next tuesday at 14:30 about the parent evening",
        "Parent evening",
        "tuesday at 14:30",
    ),
    _keep("Remember my sister Lena doesn't eat meat", "Sister Lena doesn't eat meat."),
    _keep("make a note that I park in garage B on level 3", "Parks in garage B, level 3."),
    _forget("forget that I live in Linz, I don't any more", "Linz"),
    _manage("Delete the reminder about the passport, I've done it", "delete", "passport"),
    _manage("push the standup reminder to 10:30", "change", "standup", when="at 10:30"),
    _set("no messages between 22:00 and 7:00 please", quiet_hours="22:00-07:00"),
)

GERMAN = (
    _remind("Erinner mich in 20 Minuten dran, Ada anzurufen", "Ada anrufen", "in 20 minutes"),
    _remind(
        "Danke! Erinnere mich bitte morgen um 9 an den Müll",
        "Denk an den Müll!",
        "tomorrow at 9:00",
    ),
    _remind(
        "kannst du mich heute abend um 8 ans blumengießen erinnern?",
        "Blumen gießen 🌸",
        "today at 20:00",
    ),
    _remind("weck mich morgen um halb sieben", "Aufstehen! Guten Morgen ☀️", "tomorrow at 6:30"),
    _remind("sag mir um 17 Uhr Bescheid, dass ich zum Zug muss", "Du musst zum Zug.", "at 17:00"),
    _remind(
        "Super. Stell mir für Montag 10 Uhr eine Erinnerung: Zahnarzt",
        "Zahnarzt",
        "monday at 10:00",
    ),
    _remind(
        "Lass mich nicht vergessen, morgen früh Milch zu kaufen",
        "Milch kaufen nicht vergessen!",
        "tomorrow morning",
    ),
    _remind(
        "Ruf ich Oma an, wenn du mich nicht erinnerst? Nein. Also erinner mich am Sonntag um 16"
        " Uhr, Oma anzurufen!",
        "Oma anrufen",
        "sunday at 16:00",
    ),
    _remind(
        "bitte am freitag um 15 uhr erinnern: das auto braucht neue reifen",
        "Das Auto braucht neue Reifen.",
        "friday at 15:00",
    ),
    _remind(
        "Übermorgen um 14:30 Erinnerung an den Elternabend, danke dir",
        "Elternabend",
        "2026-11-22T14:30",
    ),
    _remind(
        "Erinnere mich in einer halben Stunde, das Brot aus dem Ofen zu holen.",
        "Brot aus dem Ofen holen",
        "in 30 minutes",
    ),
    _keep("Merk dir, dass ich keine Nüsse vertrage", "Verträgt keine Nüsse."),
    _keep("merk dir bitte: meine Frau heißt Eva", "Frau heißt Eva."),
    _keep("Behalte im Kopf, dass wir nach Graz gezogen sind.", "Ist nach Graz gezogen."),
    _keep(
        "Notier dir mal, ich arbeite nur noch Montag bis Mittwoch",
        "Arbeitet nur noch Montag bis Mittwoch.",
    ),
    _note(
        "Speicher für später: das WLAN in der Hütte heißt Bärenhof",
        "Das WLAN in der Hütte heißt Bärenhof.",
        "wlan",
        "hütte",
    ),
    _manage("lösch die Erinnerung ans Fitnessstudio", "delete", "Fitnessstudio"),
    _manage(
        "verschieb den Friseur auf Samstag um 11", "change", "Friseur", when="saturday at 11:00"
    ),
    _set("Ich bin jetzt in Tokio, stell die Zeitzone um", time_zone="Asia/Tokyo"),
    _set("Sprich ab jetzt englisch mit mir", language="en"),
    # Written before the rule, and not looked at while it was tuned.
    _remind("boah langer text. egal, erinner mich in 2 stunden ans dehnen", "Dehnen", "in 2 hours"),
    _remind(
        "Wecker auf morgen 7 Uhr, dann ist Sport dran", "Sport ist dran 💪", "tomorrow at 7:00"
    ),
    _remind(
        "Könntest du mich am 3. Dezember um 12 an Omas Geburtstag erinnern?",
        "Omas Geburtstag",
        "3 december at 12:00",
    ),
    _remind(
        "morgen mittag bitte dran denken dass Tom die fotos bekommt, erinnerst du mich?",
        "Tom bekommt die Fotos.",
        "tomorrow at 12:00",
    ),
    _keep(
        "Vergiss nicht: meine Schwester Lena isst kein Fleisch", "Schwester Lena isst kein Fleisch."
    ),
    _keep(
        "Schreib dir auf, dass ich in Garage B auf Ebene 3 parke", "Parkt in Garage B auf Ebene 3."
    ),
    _forget("vergiss, dass ich in Linz wohne, stimmt nicht mehr", "Linz"),
    _manage(
        "Die Erinnerung an den Reisepass kannst du löschen, ist erledigt", "delete", "Reisepass"
    ),
    _manage("leg die Besprechung auf 10:30", "change", "Besprechung", when="at 10:30"),
    _set("zwischen 22 Uhr und 7 Uhr bitte keine Nachrichten", quiet_hours="22:00-07:00"),
)

PEERS = (
    # In the words of users of other reminder bots and voice assistants: their issues and guides.
    _remind("remind me drink water in 10 minutes", "Drink water", "in 10 minutes"),
    _remind("remind me in 1hr to eat", "Eat", "in 1 hour"),
    _remind("reminder 30 min buy milk", "Buy milk", "in 30 minutes"),
    _remind("remind next friday meeting at 10", "Meeting", "2026-11-27T10:00"),
    _remind(
        "Please remind me to test the siren at 5:30 p.m. today.", "Test the siren", "today at 17:30"
    ),
    _remind("timer 12 minutes pasta", "Pasta", "in 12 minutes"),
    _remind("I want to be reminded tomorrow at 8 about the rent", "Rent", "tomorrow at 8:00"),
    _remind(
        "make sure I don't forget to take the cake out at 2:15", "Take the cake out", "at 14:15"
    ),
    _remind("call the doctor tomorrow at 10 - remind me pls", "Call the doctor", "tomorrow 10:00"),
    _remind("rmd me tmrw 9am dentist", "Dentist", "tomorrow at 9:00"),
    _remind(
        "hey, could you give me a heads up at 4 before the call with Sam?",
        "Call with Sam",
        "at 16:00",
    ),
    _remind("setze einen Timer für 7 Minuten", "Der Timer ist abgelaufen", "in 7 minutes"),
    _remind("In 9 Minuten ans Essen erinnern", "Essen", "in 9 minutes"),
    _remind("Stell den Wecker auf 6.00 Uhr morgen", "Wecker", "tomorrow at 6:00"),
    _remind("erstelle eine Erinnerung für morgen 10 Uhr: TÜV", "TÜV", "tomorrow at 10:00"),
    _remind(
        "Ich muss um 16 Uhr die Kinder abholen, erinner mich um halb vier",
        "Kinder abholen",
        "at 15:30",
    ),
    _remind("ich möchte morgen um 8 an die Steuer erinnert werden", "Steuer", "tomorrow at 8:00"),
    _remind("Gib mir um viertel vor fünf Bescheid, dass ich los muss", "Du musst los", "at 16:45"),
    _keep("remember that I love robots", "Loves robots."),
    _keep("For future reference, I prefer metric units", "Prefers metric units."),
    _keep("note to self: the spare key is at Lena's", "Spare key is at Lena's."),
    _keep("update your memory: I quit smoking", "Quit smoking."),
    _keep("kannst du dir merken dass ich immer den zug um 7:15 nehme", "Nimmt immer den Zug 7:15."),
    _keep("Für die Zukunft: ich trinke keinen Kaffee", "Trinkt keinen Kaffee."),
    _keep(
        "ich bin allergisch gegen Katzen, das solltest du dir merken",
        "Ist gegen Katzen allergisch.",
    ),
    # A plain sentence about oneself is kept without a wish.
    _keep("I'm vegetarian", "Is vegetarian."),
    _keep("ich wohne in Graz", "Wohnt in Graz."),
    _keep("My daughter's name is Mia.", "Daughter's name is Mia."),
    _manage("turn off the standup reminder", "delete", "standup"),
    _manage("hör auf mich ans Fitnessstudio zu erinnern", "delete", "Fitnessstudio"),
    _manage("nimm den Friseur raus", "delete", "Friseur"),
    _manage("can we do the haircut at 3pm instead?", "change", "haircut", when="at 15:00"),
)

REPEATS = (
    _remind("remind me every day except Sunday at 7 to walk", "Walk", "0 7 * * 1-6"),
    _remind(
        "remind me every weekday except Friday at 7 to take pills",
        "Take your pills",
        "every weekday except Friday at 7",
    ),
    _remind(
        "erinnere mich jeden Werktag außer Freitag um 7 an die Tabletten",
        "Tabletten",
        "every weekday except friday at 7:00",
    ),
    _remind("every 2 hours remind me to stretch", "Stretch!", "every 2 hours"),
    _remind(
        "remind me on the second and fourth Wednesday at 18:00 of choir",
        "Choir",
        "second and fourth Wednesday at 18:00",
    ),
    _remind("remind me every Monday to water the plants at 9", "Water plants", "0 9 * * 1"),
    _remind("erinnere mich jeden Montag an den Müll", "Müll", "jeden Montag"),
    _remind(
        "erinnere mich alle zwei Wochen donnerstags um 18 Uhr an Yoga",
        "Yoga",
        "alle zwei Wochen donnerstags um 18 Uhr",
    ),
    _remind(
        "remind me every day at 8 and 20 to take pills",
        "Take your pills",
        "08:00 20:00 FREQ=DAILY",
    ),
    _remind(
        "erinnere mich am letzten Werktag des Monats um 9 an die Rechnung",
        "Rechnung",
        "letzter Werktag des Monats um 9",
    ),
    _remind(
        "remind me tomorrow at 3:30 Tokyo time to join the call",
        "Join the call",
        "tomorrow at 3:30 Tokyo time",
    ),
    _remind(
        "wake me at quarter to eight every weekday", "Wake up", "every weekday at quarter to eight"
    ),
    _manage("move the standup to every day at 9:15", "change", "standup", when="every day at 9:15"),
)
"""Wishes for times that repeat, or on the clock of another place."""
