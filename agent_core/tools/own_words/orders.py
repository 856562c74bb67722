"""List the words by which people order a change, in English and German, and further languages.

Each line is a verb. A call whose text, time and target were said needs no more. Behind `=>` stands
what has to follow so that the verb asks for a change by itself; a line with a bare `=>` asks alone.
Lines of the kind `other` order what own words prove no call of.
"""

import re
from collections.abc import Mapping, Sequence

from agent_core.tools.own_words.contract import WishKind

_KEPT = (
    r"(?:reminders?|alarms?|timers?|jobs?|notes?|memory|memories|entry|entries|calendar|events?"
    r"|appointments?|meetings?|messages?|e-?mails?|files?|folders?|digests?|settings?|bookings?"
    r"|skills?|subscriptions?|tasks?|tickets?|agenda|diary|cart|to-?do|fact)"
)
"""Things that are kept, and so can be made, changed and deleted."""
_PARTS: Mapping[str, str] = {
    "KEPT": _KEPT,
    "A_KEPT": rf".{{0,60}}\b{_KEPT}\b",
    "ON_LIST": rf".{{1,60}}\b(?:to|on|in) (?:the|my|our) (?:\w+ )?(?:list|{_KEPT})\b",
    "IT": r"\s(?:that|it|this|them|all|both|the last)\b",
    "WHOM": r"(?:him|her|them|everyone|everybody|the team|my \w+|mum|mom|dad|(?-i:[A-Z]\w+))",
    "WHAT": r"(?:what|who|whom|whose|how|why|when|where|which|of what|of how)\b",
    "WEM": (
        r"(?:(?:bitte|mal) )?"
        r"(?:ihm|ihr|ihnen|allen|dem team|mein\w* \w+|mama|papa|(?-i:[A-ZÄÖÜ]\w+))"
    ),
    "SOON": (
        r"(?:every|each|daily|weekly|hourly|tomorrow|tonight|at \d|at noon|in \d+ \w+|on \w+day)\b"
    ),
    "TO_WHEN": r".{1,60}\bto (?:\w+day|tomorrow|\d\S*|noon|next)\b",
    "A_SETTING": r".{0,40}\b(?:language|time ?zone|quiet hours|voice answers|days off)\b",
    "EINE_EINSTELLUNG": r".{1,40}(?:zeitzone|sprache|einstellung|ruhezeit|sprachantworten)",
    "A_THING": (r"\s(?!.{0,60}\bby\b|me around)(?:an?|the|me|us|my|our|more|some|two|it|that)\b"),
    "THAT": r"(?:that|about|to|i|i['’]m|we)",
    "HAPPENS": (
        r"(?:is|are|has|have|gets?|arrives?|comes?|changes?|drops?|falls?|rises?|happens?|starts?"
        r"|ends?|opens?|writes?|answers?|replies)"
    ),
    "WAS": r"(?:was|wer|wie|warum|wo|wann)",
    "BALD": r"(?:bescheid|morgen|um \d|jede\w*|täglich)\b",
    "TUN": (
        r"(?:erinnern|wecken|merken|notieren|speichern|löschen|verschieben|schicken|absagen"
        r"|eintragen|stornieren|buchen)"
    ),
    "AUF_LISTE": r".{0,60}\bauf (?:die|meine|unsere) \w*liste",
}
"""Named parts of the patterns; a name stands in `<>`."""

_KEEP = r"""
remember => ,? (?:that|this|my|i\b|i['’]m|me\b|it\b|to|:)
(?:make|take) (?:a |another )?note =>
note => (?: down)? (?:that|this|it|my|down|the(?! difference))\b
save => \b(?! (?:money|time|energy|water))
store => \b(?! (?:money|time|energy|water))
keep => \s(?:(?:that|this|it)\b\W*$|(?:\w+ )?in mind)
jot => (?: down)? (?:that|this|it|my|down|the(?! difference))\b
put => <ON_LIST>|<A_KEPT>
add => <ON_LIST>|<A_KEPT>|\s(?!up\b)[^\W\d]\w+(?: and \w+)?\W*$
write (?:it |this |that )?down =>
memori[sz]e
bear in mind =>
don['’]t forget => \s(?:to|that|the|my|about)\b
merke?n? => \s(?:dir|sie sich|es dir)
notiere?n? =>
speicher(?:e|n)? =>
behalte?n? => \s(?:das|dir|es|im)\b
vermerk(?:e|en)? =>
schreibe?\b.{0,80}\bauf => \s(?:die|meine|unsere) \w*liste
aufschreiben
halte?\b.{0,60}\bfest
trage?\b.{0,60}\bein => \W*$
nimm\b.{0,60}\bauf
setz(?:e|en)? => <AUF_LISTE>|.{1,60}(?:wecker|timer|erinnerung|termin|job)
vergiss (?:bitte )?nicht
"""
_FORGET = r"""
forget => \s(?:that|about (?!it)|my|the|what|everything)\b
remove => <A_KEPT>|.{0,60}\border\b
delete => <A_KEPT>|.{0,60}\border\b|<IT>
erase => <A_KEPT>|.{0,60}\border\b
drop
clear => <A_KEPT>|.{0,60}\border\b
scratch
vergiss => \s(?!nicht|es\b)
vergessen
lösch(?:e|en)? =>
entfern(?:e|en)? =>
streich(?:e|en)? =>
"""
_LINES: Mapping[WishKind, str] = {
    "remind": r"""
        remind (?:me|us) => \b(?![,:]? (?:again )?<WHAT>| of .{0,60}\bagain\b)
        remind (?:to|at|on|in|of|about|that|next|this|today|tomorrow|tonight)
        rmd
        rmnd
        nudge => \sme\b.{0,60}\b(?:<SOON>|when\b|up\b)
        ping => \sme\b.{0,60}\b(?:<SOON>|when\b|up\b)
        buzz => \sme\b.{0,60}\b(?:<SOON>|when\b|up\b)
        poke => \sme\b.{0,60}\b(?:<SOON>|when\b|up\b)
        alert => \sme\b.{0,60}\b(?:<SOON>|when\b|up\b)
        notify => \sme\b.{0,60}\b(?:<SOON>|when\b|up\b)
        wake => \sme\b.{0,60}\b(?:<SOON>|when\b|up\b)
        set => <A_KEPT>
        timer
        (?:tell|text|message|shout at) me => \b(?! more\b).{0,60}\b<SOON>
        let me know => \s(?:when|if|as soon as|once) (?!you|this is|that is).{0,60}\b<HAPPENS>\b
        (?:don['’]?t|do not|never) (?:let me )?forget => \s(?:to|that|the|my|about)\b
        make sure (?:that )?i (?:don['’]?t forget|do not forget|remember)
        erinner[en]* => \s(?:sie )?(?:mich|uns|\w+ an)\b(?!,? (?:\w+ )?<WAS>\b)
        weck(?:e|en)? => \s(?:sie )?mich
        stell(?:e|en)? => .{1,60}(?:wecker|timer|erinnerung|termin|job|\b(?:ein|um|aus|ab|an)\b\W*$)
        denke? => \s(?:dran|daran),? (?:mich|dass)\b
        vergiss nicht
        lass\b.{0,20}\bnicht vergessen
        sage? mir => \b.{0,60}\b(?:bescheid|morgen|um \d|jede\w*|täglich)\b
        gib\b.{0,40}\bbescheid =>
        schreibe? mir => \b.{0,60}\b(?:bescheid|morgen|um \d|jede\w*|täglich)\b
        melde? dich
        stupse?
        """,
    "keep": _KEEP,
    "correct": r"""
        change
        update
        correct
        replace
        änder[en]*
        korrigier[en]*
        aktualisier[en]*
        ersetz(?:e|en)?
        """,
    "forget": _FORGET,
    "cancel": r"""
        cancel => <A_KEPT>|.{0,60}\border\b|<IT>
        stop => <A_KEPT>
        kill
        scrap
        call off
        get rid of
        no more
        (?:turn|switch) off
        (?:turn|switch)\b.{0,60}\boff
        nimm\b.{0,60}\b(?:raus|weg)
        mache?\b.{0,60}\b(?:aus|weg)
        schalte?\b.{0,60}\b(?:ab|aus)
        sage?\b.{0,60}\bab
        absagen
        storniere?n? =>
        beende?n?
        stoppe?n? =>
        """,
    "pause": r"""
        pause => <A_KEPT>|<IT>
        hold
        suspend
        skip
        mute => <A_KEPT>|.{0,60}\bnotifications\b
        snooze => <A_KEPT>|<IT>
        pausiere?n? =>
        setz(?:e|en)?\b.{0,60}\baus
        mache?\b.{0,20}\bpause
        aussetzen
        unterbrich
        """,
    "resume": r"""
        resume => <A_KEPT>|<IT>
        restart
        continue
        unpause
        start => <A_KEPT>
        reactivate
        turn\b.{0,60}\bon => \W*$
        switch\b.{0,60}\bon => \W*$
        fortsetzen
        setz(?:e|en)?\b.{0,60}\bfort
        starte?n?
        aktiviere?n?
        """,
    "run": "run\ndo\nstart\nsend\nführe?\nmach\nstarte?\nschick",
    "move": r"""
        move => <TO_WHEN>
        change => <TO_WHEN>
        shift => <TO_WHEN>
        push => <TO_WHEN>
        postpone => <A_KEPT>|<IT>
        reschedule => <A_KEPT>|<IT>
        make => <A_KEPT>
        delay
        bring
        put
        set
        verschiebe?n? =>
        änder[en]*
        ver?lege?n?
        lege? => .{1,60}(?:wecker|timer|erinnerung|termin|job)
        mache?
        stelle?
        setze?
        """,
    "set": r"""
        set => <A_SETTING>
        change => <A_SETTING>
        switch => <A_SETTING>
        use
        speak
        talk
        answer
        reply
        respond
        write
        update
        stay
        no messages
        don['’]t (?:message|text|write|disturb)
        stell(?:e|en)? => <EINE_EINSTELLUNG>
        änder[en]* => <EINE_EINSTELLUNG>
        sprich
        antworte
        schreibe?
        rede
        keine nachrichten
        nutze?
        verwende
        """,
    "other": r"""
        remind => \s(?!me\b|us\b)<WHOM>\b(?![,:]? (?:again )?<WHAT>)
        (?:warn|call) me => \b.{0,60}\b(?:<SOON>|when\b|up\b)
        (?:text|message) me => \b.{0,60}\b(?:when\b|up\b)
        (?:send|give|show) me => \b.{0,60}\b<SOON>
        <SOON> => .{0,40}\b(?:send|give|tell|show|text|message|remind|wake|ask) me\b
        (?:give|drop) \w+ a (?:shout|ping|nudge|line|note|heads[- ]?up|reminder) => \b(?! of what)
        tell me => \s(?:when|if|as soon as|once) (?!you|this is|that is).{0,60}\b<HAPPENS>\b
        (?:check|watch|monitor|keep an eye on) => \b.{0,60}\b(?:every|each|daily|and (?:tell|let))\b
        (?:track|follow) => \b.{1,60}\band (?:tell|let)\b
        (?:create|schedule|write) => <A_KEPT>
        (?:schedule|book|reserve|order|buy) => <A_THING>
        write => \s(?:(?:that|this|it|my|down|the(?! difference))\b|(?:to )?<WHOM>\b)
        (?:tell|text|message|email|e-mail|ask|inform|notify|ping) => \s<WHOM>\b
        (?:tell|inform|notify|message|text|email) => \s(?!me\b|us\b)\w+ <THAT>\b
        let => \s<WHOM> know\b
        post => \s(?:in|on|to)\b
        (?:forward|send|post) => \b.{0,60}\bto (?:<WHOM>|the \w+)
        send => \s<WHOM>\b
        (?:archive|rename) => <A_KEPT>
        undo => <IT>
        (?:turn|switch) (?:off|on) =>
        (?:turn|switch)\b.{1,40}\boff => \W*$
        unsubscribe =>
        put (?:me|us) down for =>
        e-?mail => \b.{0,60}\bto \w+
        (?:i need|i want|i['’]d like|set|start) an? (?:reminder|alarm|timer) =>
        (?:sage?|gib|geben|schicke?|schreibe?) (?:sie )?mir => \b.{0,60}\b<BALD>\b
        (?:sage?|schicke?|schreibe?|sende?|maile?|frage?|informiere?) => \s<WEM>\b
        <WEM> bescheid (?:geben|sagen) =>
        mache? => .{1,40}(?:wecker|timer|erinnerung|termin|job)
        räume? => .{1,40}\bleer\b
        leite?\b.{1,60}\bweiter =>
        (?:kündige?|reserviere?|buche?|bestelle?|archiviere?) =>
        (?:packe?|tu) => <AUF_LISTE>
        (?:kannst|könntest|würdest|magst) du\b.{0,80}\b<TUN> =>
        (?:richte|schalte?) => .{1,60}\b(?:ein|um|aus|ab|an)\b\W*$
        """,
}
_SHARED: Mapping[WishKind, Sequence[str]] = {"correct": (_KEEP, _FORGET), "cancel": (_FORGET,)}
"""Verbs of other kinds that may mean these, too."""
_SIGN_LINES: Mapping[WishKind, str] = {
    "remind": r"""
        reminders?
        (?:to|should) be reminded
        heads[- ]up
        erinnert (?:werden|zu werden)
        alarm
        timer
        wecker
        erinnerung
        dran denken
        nicht vergessen
        erinnerst
        weckst
        bescheid
        """,
    "set": r"""
        i['’]?m
        i am
        we['’]?re
        we are
        i live
        (?:i|we)(?:['’]ve| have)? moved
        ich bin
        bin ich
        wir sind
        sind wir
        ich (?:wohne|lebe)
        """,
    "cancel": r"""
        (?:don['’]?t|do not|no longer) need
        brauche?\b.{0,60}\bnicht mehr
        hör auf,? mich
        """,
    "keep": r"""
        for the record
        for later
        for (?:the )?future(?: reference)?
        for next time
        going forward
        just so you know
        (?:update|add to) (?:your |the )?memory
        call me
        nenn mich
        fyi
        nur damit du(?:['’]s| es) weißt
        für die zukunft
        fürs nächste mal
        zur info
        """,
    "resume": "wieder (?:an|ein|los)\nback on",
    "move": r"""
        (?:can|could|shall) we (?:do|make|move|shift|push)
        können wir\b.{0,60}\b(?:machen|verschieben|verlegen)
        """,
}
_FURTHER = (
    # Spanish, French, Italian, Portuguese, Dutch
    (
        r"\b(?:recuérdame|recuérdale|avísame|despiértame|guarda (?:mi|esto|que|el|la|lo)"
        r"|guárda\w*|anota|apunta|borra|elimina|cancela|envía(?!me)|mándale|dile|programa)\b"
    ),
    (
        r"\b(?:rappelle[sz]?[- ](?:moi|nous|lui)|préviens(?:[- ]moi| (?=[A-ZÀ-Ü]))"
        r"|réveille[- ]moi|note que|retiens|enregistre|supprime|efface|annule"
        r"|envoie (?:un|le|la|ce|à)|dis à)\b"
    ),
    (
        r"\b(?:ricordami|avvisami|svegliami|salva|annota|ricorda che|cancella|elimina|invia|manda a"
        r"|di['’] a|imposta)\b"
    ),
    (
        r"\b(?:lembre-me|me lembr[ea]|lembra-me|avise-me|me avis[ea]|acorde-me|guarde"
        r"|anote|apague|exclua|cancele|envie (?:um|a|o)|diga (?:a|ao|para)|agende)\b"
    ),
    (
        r"\b(?:herinner (?:me|mij|ons)|waarschuw me|wek me|maak me wakker|onthoud|noteer|bewaar"
        r"|zet (?:een|de|mijn) (?:wekker|herinnering|timer)|verwijder|annuleer|stuur (?!me)"
        r"|zeg tegen)\b"
    ),
    # Polish, Czech, Russian, Ukrainian
    r"\b(?:przypomnij|zapamiętaj|zapisz|usuń|wyślij|anuluj|odwołaj|obudź)\b",
    r"\b(?:připomeň|zapamatuj|ulož|smaž|pošli|zruš|vzbuď)\b",
    r"\b(?:напомни\w*|запомни\w*|запиши\w*|сохрани\w*|удали\w*|отправь\w*|отмени\w*|разбуди\w*)\b",
    r"\b(?:нагадай\w*|запам['’]ятай\w*|збережи|видали|надішли|скасуй)\b",
    # Swedish, Danish, Norwegian, Finnish
    r"\b(?:påminn|kom ihåg|spara|radera|ta bort|skicka|avboka|väck)\b",
    r"\b(?:mind mig om|påmind|husk (?:at|på)|slet|aflys|minn meg|slett|lagre|avlys)\b",
    r"\b(?:muistuta|muista|tallenna|poista|lähetä|herätä)\b",
    # Turkish, Hungarian, Romanian, Greek
    r"\b(?:hatırlat\w*|kaydet|unutma|iptal et|gönder|uyandır)\b",
    r"\b(?:emlékeztess|jegyezd|mentsd|töröld|küldd|ébressz)\b",
    r"\b(?:amintește-mi|ține minte|salvează|șterge|trimite|anulează)\b",
    r"\b(?:θύμισέ|θυμήσου|αποθήκευσε|διέγραψε|στείλε|ακύρωσε)",
    # Japanese, Chinese, Korean, Arabic, Hindi
    r"リマインド|思い出させて|覚えて|保存して|削除して|消して|送って|起こして|キャンセルして|メモして",
    r"提醒我|记住|記住|记下|保存|删除|刪除|发给|發給|叫醒我|取消",
    r"알려 ?줘|기억해|저장해|삭제해|보내 ?줘|취소해|깨워",
    r"ذكرني|ذكّرني|احفظ|احذف|أرسل|ألغ",
    r"याद दिला|याद रख|सहेज|हटा दो|भेज दो",
)


def _list_lines(lines: str) -> list[tuple[str, str | None]]:
    """Return each verb with what has to follow; None for one that never asks alone."""
    found = []
    for line in filter(None, map(str.strip, lines.splitlines())):
        verb, mark, rest = line.partition(" =>")
        found.append((_fill(verb), _fill(rest.strip()) if mark else None))
    return found


def _fill(pattern: str) -> str:
    return re.sub(r"<([A-Z_]+)>", lambda one: f"(?:{_PARTS[one[1]]})", pattern)


def _join(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w'’])(?:{'|'.join(patterns)})", re.IGNORECASE)


def _compile(lines: str) -> re.Pattern[str]:
    return _join([rf"(?:{'|'.join(verb for verb, _ in _list_lines(lines))})(?!\w)"])


def _compile_plain(lines: str) -> re.Pattern[str]:
    return _join(
        [
            rf"(?:{verb})(?!\w)" + (f"(?={rest})" if rest else "")
            for verb, rest in _list_lines(lines)
            if rest is not None
        ]
    )


ORDERS: Mapping[WishKind, re.Pattern[str]] = {
    kind: _compile("\n".join((*_SHARED.get(kind, ()), lines)))
    for kind, lines in _LINES.items()
    if kind != "other"
}
"""The verbs by kind. They count at the beginning of a clause, or after "can you" and the like."""
PLAIN_ORDERS: Mapping[WishKind, re.Pattern[str]] = {
    kind: _compile_plain(lines) for kind, lines in _LINES.items() if "=>" in lines
}
"""The verbs that ask for a change by themselves, with what follows them."""
SIGNS: Mapping[WishKind, re.Pattern[str]] = {
    kind: _compile(lines) for kind, lines in _SIGN_LINES.items()
}
"""Words that are a wish wherever they stand."""
FURTHER_ORDERS = re.compile("|".join(_FURTHER), re.IGNORECASE)
"""Orders in further languages, which prove no call."""
