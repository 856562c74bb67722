"""Configuration: every setting with its value and its source. Only owners see it."""

import re

from agent_core.tools.secret_scan import SecretMask
from gateway.app.settings import TABLES, find_source
from gateway.interfaces.pages.views import Fields, Look

_PASSWORD = re.compile(r"(?<=://)[^/\s]+(?=@)")
_HIDDEN = "[hidden]"


async def show(look: Look) -> Fields:
    """List the tables with their values, and which secrets are set; no secret is shown."""
    settings = look.gateway.settings
    mask = SecretMask(settings.hidden)

    def write(table: str, key: str) -> str:
        value = getattr(getattr(settings, table), key)
        texts = [str(one) for one in value] if isinstance(value, tuple) else [str(value)]
        if (table, key) == ("plugins", "options"):
            # Any option may hold a secret.
            texts = [f"{text.partition('=')[0]}={_HIDDEN}" for text in texts]
        return mask.hide(_PASSWORD.sub(_HIDDEN, ", ".join(texts)))

    return {
        "tables": {
            table: [
                (key, write(table, key), find_source(settings, table, key))
                for key in model.model_fields
            ]
            for table, model in TABLES.items()
        },
        "secrets": {
            name.upper(): getattr(settings.secrets, name) is not None
            for name in type(settings.secrets).model_fields
        },
    }
