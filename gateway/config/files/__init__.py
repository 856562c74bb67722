"""The home's `.env` and `config.toml`, as `talaria setup` writes them."""

from gateway.config.files.config_file import change_config
from gateway.config.files.env_file import change_env, read_env
from gateway.config.files.replacing import replace_file

__all__ = ["change_config", "change_env", "read_env", "replace_file"]
