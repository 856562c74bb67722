"""Load the packages of the extra `backup`, which only encryption and S3 need."""

import importlib
from types import ModuleType

from agent_core.errors import StoreError, name_installation


def load_extra(package: str) -> ModuleType:
    """Import a package of the extra. Raises `StoreError` if it is not installed."""
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        raise StoreError(
            f"encrypted backups and S3 need the extra `backup`; run {name_installation('backup')}"
        ) from error
