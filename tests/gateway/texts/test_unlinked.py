"""What unlinking an account reports: only what left with it, and what stayed."""

from dataclasses import replace

from gateway.texts.people import Unlinked, describe_unlinked


def test_nothing_is_reported_that_there_is_none_of() -> None:
    done = Unlinked(account="`Ana`", sessions=0, kept=0, entries=0, is_admitted=True)
    assert describe_unlinked(done) == "`Ana` is a separate person again."
    some = describe_unlinked(replace(done, sessions=2, entries=1))
    assert some == (
        "`Ana` is a separate person again. 2 conversations that began with that account stay with"
        " it. 1 note of that account stays with it."
    )
