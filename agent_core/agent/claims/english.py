"""Sentences in English that claim an effect."""

from agent_core.agent.claims.contract import Language, Pattern

_I = r"(?:i|we)"
_ADVERBS = (
    r"(?:(?:just|now|already|also|successfully|gone ahead and|went ahead and|all"
    r"|both|therefore|then|quickly|happily) )*"
)
_HAVE = (
    rf"(?:\b(?:i|we)(?:['’]ve| have)|(?:^|^[\w ]+[,!] |\b(?:and|so|but"
    rf"|by the way,|also,|instead,) )(?:i|we)) {_ADVERBS}"
)
_SURE = (
    "scheduled|rescheduled|booked|reserved|cancel+ed|paused|unpaused|emailed"
    "|e-mailed|messaged|texted|notified"
    "|informed|forwarded|jotted|memori[sz]ed|logged|recorded|unsubscribed|subscribed|ordered"
    "|archived|installed|uploaded|deployed|committed|pushed|restarted|reverted|undone|switched"
    "|turned (?:on|off)|disabled|enabled|activated|deactivated|approved|registered|filed"
    "|bookmarked|pinned|snoozed|purchased|paid|transferred|wiped|erased"
    "|forgotten|renamed|posted|stored"
)
"""Verbs whose object is always outside of the answer."""
_WIDE = (
    "set|saved|added|put|made|created|updated|changed|moved|deleted|removed|sent"
    "|written|wrote|noted"
    "|replied|told|asked|passed|fixed|edited|opened|closed|started|stopped"
    "|launched|crossed|kept|let"
    "|took|taken|handled|arranged|prepared|applied|marked|got|adjusted|shared"
    "|published|turned|ran|run"
)
"""Verbs that may also speak of the answer's own words: they need an object that is outside."""
_THING = (
    r"(?:reminders?|alarms?|timers?|calendar|agenda|diary|appointments?|to-?do"
    r"|tasks?|task list|jobs?|schedule"
    r"|memory|memories|notes?|records?|profile|preferences?|database|list|lists"
    r"|shopping list|grocery list"
    r"|messages?|e-?mails?|mails?|texts? to|sms|invitations?|invites?|tickets?"
    r"|orders?|payments?|bookings?"
    r"|reservations?|time ?zone|settings?|quiet hours|days off|voice answers|notifications?"
    r"|files?|folders?|director(?:y|ies)|workspace|backups?|repo(?:sitory)?|branch|server|account"
    r"|[\w-]+\.(?:md|txt|csv|json|toml|ya?ml|py|js|pdf|png|log|xlsx?|docx?)"
    r"|readme|skill|address|birthday|phone number"
    r"|study goals|cart|subscription|lights?|thermostat|dentist|log|logs"
    r"|your language|team know|group|behalf|everyone know)"
)
_PERSON = r"(?:him|her|them|everyone|the team|your \w+|(?-i:[A-Z][\w-]+))"
_IT = r"(?:it|that|this|them|both|everything|all of (?:it|them))"
_GONE = (
    "set|set up|saved|scheduled|rescheduled|booked|reserved|cancel+ed|deleted"
    "|removed|added|created|updated|sent|noted"
    "|recorded|stored|moved|changed|paused|activated|enabled|disabled|applied"
    "|logged|informed|notified"
    "|approved|processed|archived|renamed|switched on|switched off|turned on"
    "|turned off|in place|confirmed"
    "|wiped|erased|forgotten|installed|uploaded|deployed|restored|reverted"
    "|subscribed|unsubscribed|arranged"
    "|completed|registered|ordered|paid|posted|forwarded|delivered"
)
_OUT = (
    rf"(?:i|we)(?:['’]ll| will| shall| am going to|['’]m going to"
    rf"|['’]m gonna) {_ADVERBS}(?:definitely |certainly |gladly |gently "
    rf"|make sure to |be sure to |try to |then )*"
)
_REMIND = "remind|ping|nudge|poke|wake|alert|notify|text|message|buzz|warn"
_YOUR = r"(?:your|the|this|that|my|a|both|all|an)"

CLAIMS = (
    Pattern(rf"{_HAVE}(?:{_SURE})\b"),
    Pattern(rf"{_HAVE}(?:{_WIDE}) (?:[^,;]{{0,70}}? )?{_THING}\b"),
    Pattern(
        rf"{_HAVE}(?:{_WIDE}) {_IT}(?: (?:up|down|off|over|on|for|to|in|into|as|away"
        rf"|all|now|too)\b|[.!,]|$)"
    ),
    Pattern(
        rf"{_HAVE}(?:sent|told|asked|let) {_PERSON} (?:know\b|that\b|to\b|the\b|a\b"
        rf"|about\b|your\b|an\b)"
    ),
    Pattern(rf"{_HAVE}(?:taken|took) care of\b"),
    Pattern(
        r"\b(?:i|we)(?:['’]ve| have)? got (?:it|that|this"
        r"|you) (?:all )?(?:written down|saved|noted|booked|down|covered|scheduled)"
    ),
    Pattern(r"\b(?:got (?:it|that) )?written down\b(?! in| by)"),
    Pattern(r"\b(?:i|we) have (?:you|it|that) (?:booked|down|scheduled|noted|saved)\b"),
    Pattern(
        r"\byou(?:['’]re| are) (?:now |all )*(?:booked|scheduled|subscribed"
        r"|unsubscribed|registered|signed up)\b"
    ),
    Pattern(r"\byou have been (?:unsubscribed|subscribed|booked|registered|added|removed)\b"),
    Pattern(rf"\b{_OUT}(?:{_REMIND}) (?:you|him|her|them|your|everyone)\b"),
    Pattern(
        rf"\b{_OUT}(?:remember|not forget|keep) (?:it|that|this|you|your"
        rf"|track of)\b(?! short| brief| simple)"
    ),
    Pattern(rf"\b{_OUT}(?:bear|keep) (?:it|that|this|your [\w ]+) (?:in mind|in memory|noted)\b"),
    Pattern(
        r"^(?:\W|duly noted|noted|okay|ok|got it|thanks)*i['’]?ll (?:keep"
        r"|bear) (?:it|that|this) in (?:mind|memory)"
    ),
    Pattern(
        rf"\b{_OUT}(?:give you (?:a )?(?:nudge|call|ping|shout|heads|reminder)"
        rf"|get back to you|follow up|check back|keep an eye|keep you posted"
        rf"|keep watch|keep track)\b"
    ),
    Pattern(
        rf"\b{_OUT}(?:check|watch|monitor) [^.]{{0,40}}\b(?:every|each|hourly|daily"
        rf"|once a|and (?:let|tell|ping|notify))\b"
    ),
    Pattern(
        rf"\b{_OUT}(?:let|tell) (?:you know|you) (?:when|if|as soon as|once"
        rf"|about any|the moment|at \d|tomorrow|on \w+day)\b"
    ),
    Pattern(rf"\b{_OUT}(?:let {_PERSON} know|tell {_PERSON} (?:that|about|right))\b"),
    Pattern(
        rf"\b{_OUT}send (?:you|him|her|them|(?-i:[A-Z]\w+)"
        rf"|your \w+) [^.]{{0,50}}(?:\bat \d|\bevery\b|\beach\b|\btomorrow\b"
        rf"|\bon \w+day|\bdaily\b|\bweekly\b|\bright away\b|\breminder)"
    ),
    Pattern(
        r"\b(?:from now on|every \w+|each \w+|tomorrow"
        r"|tonight)\b[^.]{0,40}\bi(?:['’]ll| will) (?:text|send|message|remind|ping"
        r"|tell) you\b"
    ),
    Pattern(
        r"\byou(?:['’]ll| will) (?:now |then |also )?(?:be reminded|be notified"
        r"|get (?:a|an|your|that|another) (?:message|reminder|nudge|notification"
        r"|ping|alert|text|digest)|receive (?:a|an|your) (?:message|reminder"
        r"|notification|alert|digest)|hear from me)\b"
    ),
    Pattern(
        r"\b(?:expect|look out for) (?:a|an|my|your|the) (?:reminder|nudge|message"
        r"|ping|notification|alert|call|digest)\b"
    ),
    Pattern(
        r"^(?:\W|okay|ok|alright|sure|great|perfect|good idea|got it|thanks|and"
        r")*(?:all |it['’]s |it is |that['’]s |that is |everything['’]s "
        r"|everything is |consider (?:it|that) |consider yourself |already |duly "
        r"|now |i am |i['’]m )*(?:done|set up|saved|noted|scheduled|rescheduled"
        r"|booked|cancel+ed|deleted|removed|sorted|stored|recorded|undone|reverted"
        r"|taken care of|logged|forgotten|unsubscribed|paused|sent|fixed|removed"
        r"|archived)\b(?: and done| and dusted)?[\W\s]*(?:$|,|for (?!all|the)"
        r"|to memory|at \d|on \w+day|from (?:your|my|the) (?:list|memory|calendar)"
        r"|for you\b|your\b|the\b|it\b|anything else)"
    ),
    Pattern(
        r"\b(?:all|everything) (?:is |['’]s )?(?:set|done|arranged|sorted|saved"
        r"|booked|scheduled)(?: up)?(?: for|[.!,]|$| and| now)(?! the trip| it)"
    ),
    Pattern(r"\b(?:you['’]re|you are|that['’]s|that is|we['’]re) all set\b(?! for the trip)"),
    Pattern(
        r"^(?:\W|okay|ok|alright|sure|great|perfect|got it|your wish is my command"
        r")*(?:the |your )?(?:reminder|alarm|timer|message|e-?mail|note|memo"
        r"|mail|text|task|booking|preference|setting|time ?zone)s? (?:is |was "
        r"|has been |successfully |now )*(?:set|saved|sent|added|created|started"
        r"|scheduled|booked|updated|deleted|cancel+ed|moved|changed|noted|removed"
        r"|on its way|gone|in place|running|active)\b"
    ),
    Pattern(
        rf"\b{_YOUR} (?:[\w'’-]+ ){{0,6}}(?:has|have) (?:now |just |also "
        rf"|successfully |already )*been (?:successfully )?(?:{_GONE})\b"
    ),
    Pattern(
        rf"\b(?:that|it|{_PERSON}|changes|\w+) (?:['’]s|has|have) (?:now |just "
        rf"|also |successfully )*been (?:successfully )?(?:{_GONE}) (?:to|from|in"
        rf"|for|on|into) (?:your|my|you|the (?:list|calendar|memory|group))\b"
    ),
    Pattern(r"\b(?-i:[A-Z]\w+) has been (?:informed|notified|told)\b"),
    Pattern(
        r"\b(?:your|the changes|your request) (?:[\w'’-]+ ){0,5}(?:is|are|was"
        r"|were) (?:now |successfully |already )+(?:set|saved|scheduled|rescheduled"
        r"|booked|reserved|cancel+ed|deleted|removed|updated|recorded|active|on|off"
        r"|enabled|disabled|stored|changed|switched|registered|on its way)\b"
    ),
    Pattern(
        r"\byour (?:[\w'’-]+ ){0,4}(?:reminder|alarm|timer|table|booking|appointment"
        r"|reservation|text|message|e-?mail|order)s? (?:[\w'’-]+ ){0,3}(?:is"
        r"|are) (?:set|scheduled|booked|reserved|on its way|cancel+ed|sent|confirmed"
        r"|saved|up to date)\b"
    ),
    Pattern(r"\byour (?:log|list|profile|calendar|memory|diary) is (?:now )?up to date\b"),
    Pattern(
        r"\bthe (?:[\w'’-]+ ){0,3}(?:reminder|alarm|timer"
        r"|job)s? (?:[\w'’-]+ ){0,5}(?:is|are) (?:now |all )?(?:set|gone|in place"
        r"|active|scheduled|deleted|paused|cancel+ed|running)\b"
    ),
    Pattern(
        r"\b(?:it|that)(?:['’]s| is)(?: now| all)? (?:scheduled|in the system"
        r"|on your (?:calendar|list|agenda)|in your (?:calendar|notes|diary)|saved"
        r"|booked|taken care of|in my (?:memory|notes))\b"
    ),
    Pattern(
        r"\b(?:quiet hours|verbose mode|notifications|voice answers|dark mode"
        r"|quiet times) (?:is|are) (?:now )?(?:on|off|enabled|disabled|active|set)\b"
    ),
    Pattern(
        r"^(?:\W|okay|ok|sure|got it|alright|aye aye|no problemo"
        r")*(?:reminding you|setting (?:a|your|the) (?:reminder|alarm|timer)"
        r"|adding (?:it|that|this) to your)\b"
    ),
    Pattern(
        r"^(?:\W|okay|ok)*(?:booked|paused|cancel+ed|scheduled|deleted|saved"
        r"|removed|moved|sent|noted|renamed) (?:the|your|it|that|a|an|all|both) "
    ),
    Pattern(
        r"\battached (?:is|are|you['’]ll find) (?:the|a|your)\b"
        r"|\bi['’]ve attached (?:the|your|it)\b"
    ),
    Pattern(
        r"\b(?:that|this) (?:setting|preference|change|reminder"
        r"|note) is (?:now )?(?:saved|set|stored)\b"
    ),
    Pattern(r"\b(?:payment|order|transfer) [^.]{0,30}\bwent through\b"),
    Pattern(r"\bi (?:started|kicked off|launched|triggered|ran) (?:the|a|your) \w+"),
    Pattern(
        r"^(?:[\W\d]*\w+,? )?\w*[^.]{0,20}\badded to (?:the|your"
        r"|my) (?:\w+ )?(?:list|calendar|cart|notes|agenda)\b"
    ),
    Pattern(
        r"^(?:\W)*(?:memo|note|reminder|message|changes?|preferences?|settings?"
        r"|event|list) (?:saved|set|sent|added|updated|applied|created|deleted)\b"
    ),
)

HONEST = (
    # wishes, offers and conditions
    Pattern(
        r"\b(?:if|unless|once|when(?:ever)?|as soon as|after|until|before|suppose"
        r"|supposing|even if|in case|provided|should you|had i|would|could|might|may"
        r"|shall i|should i|want me to|let me know if|let me know when|tell me"
        r"|just say|say the word|do you want|would you like|whether|happy to|glad to"
        r"|able to|can)\b",
        where="before",
    ),
    Pattern(
        r"\b(?:if you|unless you|once you|when you (?:tell|confirm|say|give"
        r"|are ready)|as soon as (?:i|you)|if (?:i|it|that|there)|would you"
        r"|do you want|shall i|should i|as an example|for example|for instance)\b"
    ),
    # what it may do at any time
    Pattern(r"\b(?:of|about|at|for) any(?:thing| time|one)\b|\bjust ask\b|\bfirst,? and\b"),
    # denials
    Pattern(
        r"\b(?:not|never|nothing|no|cannot|nobody|neither|nor|unable|without"
        r"|failed|refused|hardly)\b|n['’]t\b",
        where="near",
    ),
    # the past, and what is known already
    Pattern(
        r"\b(?:yesterday|last (?:week|month|year|time|night|monday|tuesday|wednesday"
        r"|thursday|friday)|earlier|previously|already|back (?:then|in)|before|ago"
        r"|in (?:january|february|march|april|may|june|july|august|september|october"
        r"|november|december)|this morning|since (?:then|monday)"
        r"|as (?:you )?(?:asked|noted|mentioned|said|wished|agreed)|still"
        r"|at the moment|currently|failed|in (?:1|2)\d{3})\b"
    ),
    # what others did or said
    Pattern(
        r"\b(?:according to|says|said|wrote|writes|means|stands for|translates"
        r"|in spanish|in german|in french|is due|are due)\b"
    ),
    # the answer's own words
    Pattern(
        r"\b(?:below|above|sentence|paragraph|wording|version|draft|text to"
        r"|adjectives?|the tone|poem|recipe|the table|the code|function|method|class"
        r"|variable|query|snippet|component|script|example|here(?:['’]s| is| are))\b"
    ),
    Pattern(
        r"\b(?:ensure|verify|confirm|check|inform|make sure|that|which|who) ", where="introduces"
    ),
    Pattern(
        r"\b(?:has|have|had|need|needs|must|should|can|could|will|may|might"
        r"|to) (?:to )?be\b",
        where="before",
    ),
    Pattern(
        r"\b(?:let you (?:decide|choose)|tell you (?:a|the truth|what i)"
        r"|let you know what i|assume|explain|keep it short|be brief|answer in)\b"
    ),
    Pattern(r"\b(?:by the bell|in the margin|is done when|well done)\b"),
    Pattern(
        r"\b(?:in (?:your|the) settings|you can|you could|you may|(?<!ll )make sure|click"
        r"|tap|press|be sure to)\b"
    ),
)

ENGLISH = Language(
    name="en",
    claims=CLAIMS,
    honest=HONEST,
)
