"""Takes the words out of HTML, without what only a browser needs."""

import re
from html.parser import HTMLParser

_VOID = frozenset(
    "area base br col embed hr img input link meta param source track wbr".split()  # noqa: SIM905
)
_NEVER = frozenset({"script", "style", "noscript", "template", "svg", "iframe", "object", "title"})
_AROUND = frozenset({"nav", "header", "footer", "aside", "form", "button", "select", "dialog"})
_BREAKS = frozenset(
    "address article blockquote br dd div dl dt figcaption h1 h2 h3 h4 h5 h6 hr li main ol p pre"  # noqa: SIM905
    " section table td th tr ul".split()
)
_HEART = frozenset({"main", "article"})
_LEAST_HEART = 200
"""Characters from which on what stands in <main> or <article> is taken for the page."""


class _Words(HTMLParser):
    """Gathers text; what stands inside of something that is left out is passed over."""

    def __init__(self, left_out: frozenset[str]) -> None:
        super().__init__(convert_charrefs=True)
        self._left_out = left_out
        self._inside = ""
        self._depth = 0
        self._heart = 0
        self._in_title = False
        self.title = ""
        self.pieces: list[str] = []
        self.heart: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._inside:
            self._depth += tag == self._inside
            return
        given = dict(attrs)
        is_hidden = "hidden" in given or given.get("aria-hidden") == "true"
        if tag == "title":
            self._in_title = not self.title
        if (tag in self._left_out or is_hidden) and tag not in _VOID:
            self._inside, self._depth = tag, 1
            return
        self._heart += tag in _HEART
        if tag in _BREAKS:
            self._say("\n")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BREAKS and not self._inside:
            self._say("\n")

    def handle_endtag(self, tag: str) -> None:
        if self._inside:
            self._depth -= tag == self._inside
            if not self._depth:
                self._inside, self._in_title = "", False
            return
        if tag in _BREAKS:
            self._say("\n")
        self._heart -= tag in _HEART and self._heart > 0

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif not self._inside:
            self._say(data)

    def _say(self, text: str) -> None:
        self.pieces.append(text)
        if self._heart:
            self.heart.append(text)


def strip(markup: str) -> str:
    """The words of a piece of HTML, on one line."""
    return " ".join(_gather(markup, _NEVER)[1].split())


def read_page(markup: str) -> tuple[str, str]:
    """The title of a page and its readable text, a line a paragraph."""
    title, text = _gather(markup, _NEVER | _AROUND)
    if not text:  # all of it may stand in a form, say
        title, text = _gather(markup, _NEVER)
    return title, text


def _gather(markup: str, left_out: frozenset[str]) -> tuple[str, str]:
    words = _Words(left_out)
    words.feed(markup)
    words.close()
    heart = _tidy("".join(words.heart))
    whole = heart if len(heart) >= _LEAST_HEART else _tidy("".join(words.pieces))
    return " ".join(words.title.split()), whole


def _tidy(text: str) -> str:
    lines = (" ".join(line.split()) for line in re.split(r"\n+", text))
    return "\n".join(line for line in lines if line)
