"""Compare the words of two texts; pure."""

import re
import unicodedata
from collections.abc import Iterable

_WORD = re.compile(r"[^\W\d_]+|\d+")
_SHORT, _ENDING = 3, 2
"""Letters of the shortest word that has other forms, and of their endings."""
_BEGINNING = 4
"""Letters at the beginning of a longer word that must be equal."""
_COMMON_WORDS = """
a an and any about are as at be but by can could did do does don for from get had has have he her
him his how i if in into is isn it its just let like ll longer me more my no not now of off ok
okay old on one or our out over please re s she should so some t than that the their them then
there they this to too up us ve was we were what when where which who why will with would yes you
your need want going thing things message messages text texts reminder reminders remind reminding
remember remembered forget forgot forgotten delete deleted remove removed erase drop cancel stop
pause resume change changed move moved update job jobs note notes know knows memory list today
tomorrow every each day daily week weekly month monthly weekday weekdays morning evening noon
night hour hours minute minutes monday tuesday wednesday thursday friday saturday sunday am pm
time aber alle als ans auch auf aus bei beim bin bis bitte das dass dein deine dem den der des die
dir doch du ein eine einem einen einer er es euch für hab habe hat ich ihr im ist ja jetzt kann
kein keine lass mach mal man mehr mein meine meinem meinen meiner mich mir mit nach nicht noch nun
oder schon sich sie sind um und uns vergiss vergessen von vom war weg wenn wer wie wir wird wo zu
zum zur
über erinnerung erinnerungen erinnere erinner lösch lösche löschen streich streiche pausiere
verschieb verschiebe änder ändere merk merke heute morgen jeden jede jedes tag täglich woche monat
uhr stunde stunden minuten montag dienstag mittwoch donnerstag freitag samstag sonntag al algo con
cada como cuando cuándo de del el ella en esa ese eso está la las le lo los mañana mi mis más nos
o para pero por porque pon que qué quién se si sí sin sobre su sus también te tengo todo todos tu
tus un una unas unos y ya yo favor ahora hoy borra borrar cambia cambiar elimina olvida olvidar
pausa quita recordatorio recordatorios recuerda recuérdame día hora horas lunes martes miércoles
jueves viernes sábado domingo au aux avec ce ces cette dans elle est et eux il je les leur lui ma
mais mes moi mon ne nous ou par pas plus pour qu quand qui rappel rappels rappelle sa ses son sur
ta tes toi ton tous tout une vos votre vous efface oublie supprime
"""
_COMMON = frozenset(_COMMON_WORDS.split())
"""Words that any request or entry may hold, so that they name nothing: English, German, Spanish,
French.
"""


def list_content(text: str) -> list[str]:
    """List the words of a text that name something, folded."""
    words = (word.casefold() for word in _WORD.findall(unicodedata.normalize("NFC", text)))
    return [word for word in words if word not in _COMMON and (len(word) > 1 or word.isdigit())]


def share_word(one: str, other: str) -> bool:
    """Return whether two texts have a word in common that names something.

    Forms and compounds of one word count: "Müll" and "Mülltonne", "plants" and "plant".
    """
    return _meet(list_content(one), list_content(other))


def _meet(some: Iterable[str], others: Iterable[str]) -> bool:
    known = [_strip_accents(word) for word in others]
    return any(_is_same(_strip_accents(word), two) for word in some for two in known)


def _strip_accents(word: str) -> str:
    """Return a word without its accents."""
    parts = unicodedata.normalize("NFD", word)
    return "".join(letter for letter in parts if not unicodedata.combining(letter))


def _is_same(one: str, two: str) -> bool:
    short, long = sorted((one, two), key=len)
    if one == two or short.isdigit() or long.isdigit():
        return one == two
    if len(short) < _BEGINNING:
        return len(short) == _SHORT and long.startswith(short) and len(long) - _SHORT <= _ENDING
    head = max(_BEGINNING, len(short) * 2 // 3)
    return long[:head] == short[:head] or short in long
