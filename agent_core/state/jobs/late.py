"""The choices for missed slots, in a module that the command line imports quickly."""

from typing import Literal

Late = Literal["catch_up", "skip", "all"]
