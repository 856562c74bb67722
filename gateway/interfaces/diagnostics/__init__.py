"""Checks of an installation that ask no service and change nothing."""

from gateway.interfaces.diagnostics.finding import Finding, describe
from gateway.interfaces.diagnostics.offline import examine

__all__ = ["Finding", "describe", "examine"]
