"""What keeps a `talaria` command from being done, as a sentence for whoever typed it."""


class StartError(Exception):
    """The house can't be opened or reached. The text says why and what to do."""


class Broken(Exception):
    """A house that was running can't go on. The text says why; a restart may mend it."""


class Declined(Exception):
    """An operation can't be done as it was asked. The text is a sentence that says why."""


class Mistaken(Declined):
    """An operation was asked for with what can never be. The text is a sentence that says why."""
