"""Requests and answers of the operations on tokens."""

from dataclasses import dataclass, field

from agent_core.state.people.token_scopes import TokenScope


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateToken:
    """Asks for a token with which a program acts for a person."""

    name: str = field(metadata={"refusal": "The name is missing."})
    person: str = field(metadata={"refusal": "The person is missing."})
    """Folder name, or the only person with this name."""
    scope: TokenScope = field(
        default="mcp", metadata={"refusal": "The scope of a token is mcp, api or manage."}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeToken:
    """A new token; nothing else contains its secret."""

    number: int
    name: str
    folder: str
    secret: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListTokens:
    """Asks for the tokens of one person; "" for those of everybody."""

    person: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedToken:
    """A token without its secret. Times are in milliseconds UTC."""

    number: int
    folder: str
    name: str
    scope: TokenScope
    created_at: int
    used_at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTokens:
    """Tokens by person."""

    tokens: tuple[ListedToken, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokeToken:
    """Ends a token; with a person, only one of theirs."""

    number: int = field(metadata={"refusal": "Give the number of a token."})
    person: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokedToken:
    """The token that was ended."""

    name: str
    folder: str
