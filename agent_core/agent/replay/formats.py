"""The formats of exported conversations; the command line lists them without loading the rest."""

from typing import Literal

TrajectoryFormat = Literal["jsonl", "openai", "anthropic", "sharegpt"]
