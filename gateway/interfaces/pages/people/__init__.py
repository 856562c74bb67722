"""People and rooms for owners, and a person's own accounts."""

from gateway.interfaces.pages.people.accounts import ask_unlink, show_own, unlink
from gateway.interfaces.pages.people.everyone import show

__all__ = ["ask_unlink", "show", "show_own", "unlink"]
