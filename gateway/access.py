"""Who may talk without being approved, by the allow list of the settings."""


class Access:
    """The allow list: `platform:user_id` entries, or `*` for everybody."""

    def __init__(self, allow: tuple[str, ...]) -> None:
        self._everybody = "*" in allow
        self._accounts = frozenset(allow)

    def allows(self, platform: str, user_id: str) -> bool:
        """True if this account may talk; deny is the default."""
        return self._everybody or f"{platform}:{user_id}" in self._accounts
