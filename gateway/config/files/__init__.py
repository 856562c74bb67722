"""The home's `.env` and `config.toml`, as `talaria setup` writes them."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.config.files.config_file import change_config as change_config
    from gateway.config.files.env_file import add_saved as add_saved
    from gateway.config.files.env_file import change_env as change_env
    from gateway.config.files.env_file import read_env as read_env
    from gateway.config.files.replacing import replace_file as replace_file
    from gateway.config.files.time_zone import read_zone as read_zone
    from gateway.config.files.toml_file import parse_file as parse_file
else:
    __getattr__ = export_lazily(__name__, __file__)
