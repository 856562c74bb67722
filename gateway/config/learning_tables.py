"""The tables of `config.toml` about skills, and about learning from finished turns."""

from pydantic import Field

from gateway.config.tables import YEARS, Table
from gateway.config.types import Texts


class LearningSettings(Table, title="Learning"):
    """Thresholds of reviews of people's own words; each person chooses with `/learned`."""

    turns: int = Field(10, ge=0, le=80)
    """Answers to a person after which their words are reviewed. 0 for never. With both at 0,
    nothing brings a review forward.
    """
    steps: int = Field(10, ge=0, le=1000)
    """Tool calls for a person after which their words are reviewed. 0 for never."""
    conclusions: bool = True
    """A review that keeps something also draws guesses from what is remembered, in a second call of
    the cheap model. With `memory.provider`, that does so instead.
    """
    batch: bool = False
    """Reviews go through the batches of Anthropic, at half the price and within a day. Other
    providers are called directly.
    """
    proposals: bool = True
    """The weekly curator lets the cheap model look for skills and notes that repeat or contradict
    each other. It only proposes changes, and each person decides.
    """


class SkillSettings(Table, title="Skills"):
    """The list of skills, and the days of disuse after which one is stale or archived."""

    stale_days: int = Field(30, ge=0, le=YEARS)
    """Days without use after which a skill that the assistant wrote counts as stale. 0 for never.
    """
    archive_days: int = Field(90, ge=0, le=YEARS)
    """Days without use after which a skill that the assistant wrote is archived, unless it is
    pinned or a job needs it. `talaria skills restore` brings it back. 0 for never.
    """
    prompt_tokens: int = Field(350, ge=0, le=100_000)
    """Tokens that the list of skills may take in a prompt. Of more skills, the most used ones are
    in it, and each message names those that fit it.
    """
    folders: Texts = ()
    """Further folders whose subfolders are skills, with full paths. Nothing in them is changed.
    Enabled plug-ins add theirs.
    """
    hubs: Texts = ()
    """Places with skills by name, as `NAME=ADDRESS`, for `talaria skills install NAME`. An address
    is a folder, or a Git repository with skills or an `index.json`.
    """
