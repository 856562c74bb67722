"""Makes the player of a script or the stand-in, as the options say."""

from collections.abc import Mapping
from pathlib import Path

from agent_core.models.contract import Model
from agent_core.models.options import read_seconds, refuse_unknown
from agent_core.models.scripted.player import ScriptedModel, read_script
from agent_core.models.scripted.stand_in import PROVIDER, StandInModel


def create(options: Mapping[str, str]) -> Model:
    """Make the provider.

    Options: `script`, the path of a JSON file to be played; without it the stand-in answers,
    counting with `delay` seconds between numbers (0.4). Raises `ValueError` with a sentence.
    """
    refuse_unknown(options, ("script", "delay"), PROVIDER)
    path = options.get("script", "")
    if not path:
        return StandInModel(delay=read_seconds(options, "delay", 0.4))
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise ValueError(f'The script "{path}" can\'t be read: {error}.') from error
    return ScriptedModel(read_script(text))
