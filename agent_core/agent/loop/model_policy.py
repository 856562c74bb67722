"""The models that a turn calls."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPolicy:
    """Which models are called.

    `fallbacks` answer while `model` can't, `cheap` when a quota is nearly exhausted. `patience` is
    how long a turn waits while none of them answers, in seconds.
    """

    model: str
    fallbacks: tuple[str, ...] = ()
    cheap: str = ""
    patience: float = 1800.0
    max_output_tokens: int = 8000
