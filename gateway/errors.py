"""Errors of the command line. The text of each is a sentence for the user."""


class StartError(Exception):
    """The gateway can't start or can't be reached. The text says why and what to do."""


class Broken(Exception):
    """A running gateway has to stop. A restart may help; the text says why it stopped."""


class Declined(Exception):
    """An operation is refused. The text says why."""


class Mistaken(Declined):
    """An operation was called with invalid arguments. The text says which."""
