"""Faults of sources: the text of each ends a sentence."""


class SourceFailed(Exception):
    """A source could not be read; the text ends a sentence."""


class FetchFailed(SourceFailed):
    """A fetch failed. `status` is the HTTP status, 0 without a response."""

    def __init__(self, message: str, *, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class LedElsewhere(FetchFailed):
    """A page leads to another address, `url`, which was not fetched."""

    def __init__(self, url: str) -> None:
        super().__init__("it leads to another address")
        self.url = url


class ReaderFailed(SourceFailed):
    """A reader process failed."""
