"""The home's `.env` and `config.toml`, as `talaria setup` writes them."""
