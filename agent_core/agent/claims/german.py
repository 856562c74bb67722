"""Sentences in German that claim an effect."""

from agent_core.agent.claims.contract import Language, Pattern

_HAVE = r"(?:ich (?:habe?|hab['’]?)|habe?n?(?:['’]?s)? ich|wir haben|hab['’]?s)"
_SURE = (
    "gespeichert|gemerkt|notiert|aufgeschrieben|festgehalten|hinterlegt"
    "|eingetragen|eingeplant|eingestellt"
    "|reserviert|gebucht|storniert|abgesagt|verschickt|abgeschickt|gesendet"
    "|versendet|weitergeleitet|informiert"
    "|benachrichtigt|angelegt|pausiert|umgestellt|aktiviert|deaktiviert"
    "|ausgeschaltet|eingeschaltet|archiviert"
    "|umbenannt|bestellt|gekündigt|genehmigt|rückgängig gemacht|übernommen"
    "|installiert|hochgeladen|abonniert"
    "|abgelegt|verbucht|überwiesen|bezahlt|angemeldet|abgemeldet|gestartet|terminiert|vorgemerkt"
)
_WIDE = (
    "gelöscht|entfernt|geändert|aktualisiert|hinzugefügt|erstellt|eingerichtet"
    "|gesetzt|gestellt|verschoben|geschrieben"
    "|geschickt|gesagt|angehängt|korrigiert|aufgenommen|ergänzt|vergessen"
    "|gestrichen|geschlossen|geöffnet|gepostet"
)
_THING = (
    r"(?:\w*erinnerung(?:en)?\b|\w*termine?\b|wecker|timer|\w*kalender"
    r"|\w*aufgaben?\b|\w*liste\b|job\b|gedächtnis|\w*notiz(?:en)?\b"
    r"|\w*nachricht(?:en)?\b|e-?mails?\b|\w*mails?\b|\w*einladung(?:en)?\b"
    r"|ticket|zeitzone|\w*einstellung(?:en)?\b|ruhezeiten"
    r"|sprachantworten|datei(?:en)?\b|ordner|\w*logs?\b|[\w-]+\.(?:md|txt|csv"
    r"|json|toml|py|pdf)\b|readme|adresse|zahnarzt|profil"
    r"|abo\b|licht|bestellung|buchung|reservierung|backup|sicherung|konto"
    r"|geburtstag|präferenz(?:en)?\b|vorliebe\w*|bescheid)"
)
_PERSON = r"(?:ihm|ihr|ihnen|allen|dem team|deine[rm] \w+|(?-i:[A-ZÄÖÜ]\w+))"
_YOU = r"(?:dich|dir|euch|sie|ihnen)"
_WILL = r"(?:werde|will)"
_AT = (
    r"(?:um \w+|morgen|heute|am \w+|jeden|jede|täglich|ab (?:jetzt|morgen|sofort"
    r"|heute)|in \w+ (?:minuten?|stunden?|tagen?)|rechtzeitig|sobald sich|gleich)"
)

CLAIMS = (
    Pattern(rf"\b{_HAVE}\b.{{0,90}}?\b(?:{_SURE})\b"),
    Pattern(rf"\b(?:{_HAVE})\b(?=.{{0,90}}\b{_THING}).{{0,110}}?\b(?:{_WIDE})\b"),
    Pattern(rf"\b{_THING}.{{0,80}}\b{_HAVE}\b.{{0,40}}\b(?:{_WIDE})\b"),
    Pattern(rf"\b{_HAVE} (?:es|das|alles|sie|ihn)\b.{{0,40}}\b(?:{_WIDE})\b"),
    Pattern(rf"^(?:das|dies|es|alles) {_HAVE}\b.{{0,40}}\b(?:{_WIDE}|{_SURE})\b"),
    Pattern(rf"\b{_HAVE} {_PERSON} (?:geschrieben|gesagt|erzählt|mitgeteilt|geantwortet)\b"),
    Pattern(rf"\b{_HAVE} (?:mich|alles)\b.{{0,20}}\b(?:gekümmert|erledigt|rückgängig)\b"),
    Pattern(rf"\bich (?:erinnere|wecke|pinge|stupse|benachrichtige|informiere|warne) {_YOU}\b"),
    Pattern(
        rf"\bich {_WILL} {_YOU}\b.{{0,70}}\b(?:erinnern|benachrichtigen|informieren"
        rf"|wecken|anpingen|anstupsen)\b"
    ),
    Pattern(rf"\bich melde mich\b.{{0,30}}(?:bei {_YOU}|{_AT}|sobald|wenn)"),
    Pattern(rf"\b(?:sage|sag|gebe|geb) (?:ich )?(?:{_YOU}|{_PERSON}) .{{0,40}}\bbescheid\b"),
    Pattern(
        r"\bich merke (?:mir|es mir)\b|\bmerke ich mir\b"
        r"|\bich behalte .{0,40}\bim (?:auge|blick|gedächtnis|hinterkopf)\b"
        r"|\bdas vergesse ich\b|\bich vergesse (?:das|es)\b"
    ),
    Pattern(
        rf"\b(?:schicke|sende|schreibe) (?:ich )?(?:{_YOU}"
        rf"|{_PERSON})\b.{{0,60}}{_AT}|{_AT}\b.{{0,40}}\b(?:schicke|sende|schreibe"
        rf"|stupse|pinge|erinnere|wecke) ich {_YOU}\b"
    ),
    Pattern(
        r"\b(?:du bekommst|sie bekommen|bekommst du|du erhältst"
        r"|sie erhalten) .{0,60}(?:erinnerung|zusammenfassung von mir"
        r"|nachricht von mir|hinweis von mir|benachrichtigung)"
    ),
    Pattern(r"\b(?:du wirst|sie werden) .{0,40}\b(?:benachrichtigt|erinnert|informiert|geweckt)\b"),
    Pattern(
        r"^(?:\W|ok|okay|alles klar|gut|super|wunderbar|sehr wohl|wird gemacht"
        r"|geht klar)*(?:\w+, )?(?:alles |das |ist |schon |wurde "
        r"|bereits )*(?:erledigt|gespeichert|notiert|gemacht|passiert|eingetragen"
        r"|gesendet|verschickt|gelöscht|abgesagt|storniert|vermerkt|gemerkt"
        r"|vergessen|eingestellt|eingeplant|gebucht|reserviert|gesetzt|umgesetzt"
        r"|hinterlegt|raus)\b\W*(?:$|:|,|für|am|um|und)"
    ),
    Pattern(r"^(?:\W)*fertig\b\W*(?:$|,)|\bwird gemacht\b"),
    Pattern(
        rf"^(?:\W*\w+: )?\W*(?:(?:die|der|das|deine?"
        rf"|ihre?) )?(?:[\w-]+ ){{0,6}}?{_THING}.{{0,60}}?\b(?:ist|sind|wurden?"
        rf"|steht|läuft)\b.{{0,40}}?(?:\b(?:{_SURE}|{_WIDE}|erfolgreich|aktiv|raus"
        rf"|gelaufen|aus|an)\b|(?<=steht)\W*$|(?<=läuft)\W*$)"
    ),
    Pattern(
        r"^(?:\W)*(?:die erinnerung|der wecker|der timer|der termin) (?:steht"
        r"|läuft)\b\W*(?:$|,)"
    ),
    Pattern(rf"^(?:\W|\w+ )?{_THING}.{{0,60}}\b(?:{_SURE}|{_WIDE})\b\W*(?:$|,)"),
    Pattern(
        r"^(?:\W|\d)*[\w ]{0,40}\bzur \w*liste hinzugefügt\b|\b(?:steht"
        r"|stehen) (?:jetzt |nun )?auf (?:deiner|der|ihrer) \w*liste\b"
    ),
    Pattern(
        r"\b(?:deine?|ihre?|der|die|das) (?:[\w.-]+ ){0,5}(?:ist|sind) (?:jetzt|nun"
        r"|ab heute|ab jetzt|hiermit|ab sofort) (?!ja|so|mal|doch)\w+"
    ),
    Pattern(
        rf"\b(?:deine?|ihre?|die|der) (?:[\w.-]+ ){{0,5}}(?:wurden?|ist"
        rf"|sind) (?:erfolgreich |jetzt |nun |hiermit )*(?:{_SURE}|aktualisiert"
        rf"|gelöscht|umgesetzt|geändert|erstellt|verschoben|entfernt|hinzugefügt)\b"
    ),
    Pattern(r"\bder (?:tisch|termin|platz) ist .{0,30}\b(?:reserviert|gebucht|eingetragen)\b"),
    Pattern(r"\bim anhang (?:findest du|ist|finden sie)\b"),
    Pattern(
        rf"\b{_HAVE}\b.{{0,60}}\b(?:\w+ )?(?:auf|in|an) (?:die|deine|den|deinen"
        rf"|maria|ihre) ?\w*(?:liste|kalender|\w+) (?:gesetzt|geschrieben"
        rf"|geschickt)\b"
    ),
    Pattern(r"\bweiß bescheid\b"),
    Pattern(r"\bich (?:lege|trage|stelle|richte) .{0,50}\b(?:an|ein)\b\W*$"),
)

HONEST = (
    Pattern(
        r"\b(?:wenn|falls|sobald (?:du|ich|sie|die|das|der)|sofern|bevor|nachdem"
        r"|soll ich|möchtest|magst|willst|könnte|würde|hätte|käme|ob|dann erinnere"
        r"|sag mir|gib mir|schick mir|nenn mir|kann ich|ich kann|beispiel)\b"
    ),
    Pattern(r"\b(?:nicht|nichts|keine?[nmrs]?|nie|niemals|weder|ohne|leider)\b"),
    Pattern(
        r"\b(?:gestern|vorhin|damals|letzte[nrs]? \w+|schon (?:vorher|einmal|länger)"
        r"|früher|bereits (?:früher|am)|heute (?:früh|morgen)|wie (?:du )?(?:gestern"
        r"|gewünscht hast|besprochen)|noch immer|derzeit|momentan|im (?:januar"
        r"|februar|märz|april|mai|juni|juli|august|september|oktober|november"
        r"|dezember) (?:habe|hast|hat)|(?:1|2)\d{3})\b"
    ),
    Pattern(
        r"\b(?:laut|zufolge|bedeutet|schreibt|sagt|steht auf ihrer|hat geschrieben"
        r"|angeblich|auf deutsch)\b"
    ),
    Pattern(
        r"\b(?:unten|oben|satz|text|absatz|fassung|entwurf|gedicht"
        r"|zusammenfassung (?:unten|hier)|rezept|tabelle|code|funktion|methode"
        r"|klasse|variable|abfrage|formulierung|hier (?:ist|sind)|aufgelistet"
        r"|gekürzt|durchgesehen|gelesen)\b"
    ),
    Pattern(
        r"\b(?:muss|müssen|kannst|können|sollte|darf|lässt|stell dir vor"
        r"|angenommen)\b",
        where="before",
    ),
)

GERMAN = Language(name="de", claims=CLAIMS, honest=HONEST)
