"""The table of `config.toml` about learning from finished turns."""

from pydantic import Field

from gateway.config.tables import Table


class LearningSettings(Table, title="Learning"):
    """When Talaria looks for what people said about themselves; each chooses with `/learned`."""

    turns: int = Field(
        10,
        ge=0,
        le=80,
        description="Answers to a person after which their words are reviewed. 0 for never. With"
        " both at 0, nothing brings a review forward.",
    )
    steps: int = Field(
        10,
        ge=0,
        le=1000,
        description="Tool calls for a person after which their words are reviewed. 0 for never.",
    )
