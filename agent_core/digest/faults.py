"""What can go wrong with one source of a digest."""


class SourceFailed(Exception):
    """A source gave nothing; the text says why, as the end of a sentence."""


class FetchFailed(SourceFailed):
    """Nothing was fetched. `status` is what the server answered, 0 if it did not come to that."""

    def __init__(self, message: str, *, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class ChildFailed(SourceFailed):
    """The program that was to read or draw something ended without it."""
