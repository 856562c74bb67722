"""What becomes of missed slots; light, because the command line lists the choices."""

from typing import Literal

Late = Literal["catch_up", "skip", "all"]
