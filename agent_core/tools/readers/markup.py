"""Text extraction from HTML."""

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
_MAIN = frozenset({"main", "article"})
_LEAST_MAIN = 200
"""The smallest length in characters at which <main> or <article> counts as the page's content."""


class _Words(HTMLParser):
    """Collects text, except inside elements that are left out."""

    def __init__(self, left_out: frozenset[str]) -> None:
        super().__init__(convert_charrefs=True)
        self._left_out = left_out
        self._inside = ""
        self._depth = 0
        self._main = 0
        self._in_title = False
        self.title = ""
        self.pieces: list[str] = []
        self.main: list[str] = []

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
        self._main += tag in _MAIN
        if tag in _BREAKS:
            self._add("\n")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BREAKS and not self._inside:
            self._add("\n")

    def handle_endtag(self, tag: str) -> None:
        if self._inside:
            self._depth -= tag == self._inside
            if not self._depth:
                self._inside, self._in_title = "", False
            return
        if tag in _BREAKS:
            self._add("\n")
        self._main -= tag in _MAIN and self._main > 0

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif not self._inside:
            self._add(data)

    def _add(self, text: str) -> None:
        self.pieces.append(text)
        if self._main:
            self.main.append(text)


def strip(markup: str) -> str:
    """Extract the text of an HTML fragment as one line."""
    return " ".join(_gather(markup, _NEVER)[1].split())


def read_page(markup: str) -> tuple[str, str]:
    """Extract the title and the readable text of a page, one line per paragraph."""
    title, text = _gather(markup, _NEVER | _AROUND)
    if not text:  # the whole page may be inside a form
        title, text = _gather(markup, _NEVER)
    return title, text


def _gather(markup: str, left_out: frozenset[str]) -> tuple[str, str]:
    words = _Words(left_out)
    words.feed(markup)
    words.close()
    main = _tidy("".join(words.main))
    whole = main if len(main) >= _LEAST_MAIN else _tidy("".join(words.pieces))
    return " ".join(words.title.split()), whole


def _tidy(text: str) -> str:
    lines = (" ".join(line.split()) for line in re.split(r"\n+", text))
    return "\n".join(line for line in lines if line)
