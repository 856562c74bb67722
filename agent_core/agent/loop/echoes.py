"""Strip blocks of facts that a model repeats in its answer; pure."""

_OPENING, _CLOSING = "<facts>", "</facts>"


class EchoFilter:
    """The words of an answer without the blocks of facts in it, as they arrive.

    A block in backticks is a quotation, and stays.
    """

    def __init__(self) -> None:
        self._pending = ""
        self._last = ""
        self._is_inside = False
        self._was_stripped = False

    def feed(self, piece: str) -> str:
        """Add a piece; return what can be shown now."""
        self._pending += piece
        shown = ""
        while True:
            mark = _CLOSING if self._is_inside else _OPENING
            place = self._pending.find(mark)
            if place < 0:
                return shown if self._is_inside else shown + self._take(self._count_sure())
            if self._is_inside:
                self._pending = self._pending[place + len(mark) :]
                self._is_inside, self._was_stripped = False, True
                continue
            shown += self._take(place)
            self._is_inside = self._last != "`"
            if self._is_inside:
                self._pending = self._pending[len(mark) :]
            else:
                shown += self._take(len(mark))

    def finish(self) -> str:
        """Return the rest. A block that never ends reaches to the next blank line."""
        if self._is_inside:
            self._pending = self._pending.partition("\n\n")[2]
            self._is_inside, self._was_stripped = False, True
        return self._take(len(self._pending))

    def _count_sure(self) -> int:
        """Return how much of the pending text surely begins no block."""
        place = self._pending.rfind("<")
        is_open = place >= 0 and _OPENING.startswith(self._pending[place:])
        return place if is_open else len(self._pending)

    def _take(self, count: int) -> str:
        text, self._pending = self._pending[:count], self._pending[count:]
        if self._was_stripped:  # the blanks behind a block belong to it
            text = text.lstrip()
            self._was_stripped = not text
        self._last = text[-1:] or self._last
        return text


def strip_echoes(text: str) -> str:
    """Return a whole text without the blocks of facts in it."""
    if _OPENING not in text:
        return text
    echoes = EchoFilter()
    return echoes.feed(text) + echoes.finish()
