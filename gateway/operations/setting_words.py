"""Split what a person writes about a setting into its name and value, English or German; pure."""

import re

_SAID_NAMES = """
time_zone: time zone / timezone / zeitzone / city / stadt
language: language / sprache
quiet_hours: quiet hours / quiethours / quiet / ruhezeiten / ruhezeit / ruhe
days_off: days off / daysoff / freie tage / freietage / frei
verbosity: verbosity / detail / details / ausführlichkeit
reading_limit: reading limit / readinglimit / leselimit
spoken_answers: spoken answers / spokenanswers / voice / gesprochene antworten / sprachausgabe
"""
"""The settings, then how people write them."""
_SPOKEN_NAMES = {
    said.strip(): line.partition(":")[0]
    for line in _SAID_NAMES.strip().splitlines()
    for said in line.partition(":")[2].split("/")
}
_LONGEST_FIRST = sorted(_SPOKEN_NAMES, key=len, reverse=True)
_NAMED = re.compile(
    rf"({'|'.join(one.replace(' ', r'[ _]+') for one in _LONGEST_FIRST)})(?![\w])"
    r"\s*(?:(?:[:=]|(?:to|is|are|auf|ist|sind|in)(?=\s))\s*)*(.*)",
    re.IGNORECASE | re.DOTALL,
)
"""A setting as people write it, words between, and its value."""


def split_setting(words: str) -> tuple[str, str]:
    """Return the name of a setting and the value as written; an unknown name stays as it is."""
    named = _NAMED.match(words.strip())
    if named:
        said = " ".join(named[1].casefold().replace("_", " ").split())
        return _SPOKEN_NAMES[said], named[2].strip()
    name, value, *_ = [*words.split(maxsplit=1), ""]
    return name.lower(), value.strip()
