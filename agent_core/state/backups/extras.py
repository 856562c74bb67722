"""Load the packages of the extra `backup`, which only encryption and S3 need."""

import importlib
from types import ModuleType

from agent_core.errors import StoreError


def load_extra(package: str) -> ModuleType:
    """Import a package of the extra. Raises `StoreError` if it is not installed."""
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        raise StoreError(
            "encrypted backups and S3 need the extra `backup`; run pip install 'talaria[backup]'"
        ) from error
