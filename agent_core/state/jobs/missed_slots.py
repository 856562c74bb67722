"""The choices for missed slots; a small module, so that the command line can import it quickly."""

from typing import Literal

Late = Literal["catch_up", "skip", "all"]
