"""Requests and answers of the operations on approvals. Quick to import."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedApproval:
    """Names a thing that a person has allowed in advance; `at` is in milliseconds UTC."""

    number: int
    folder: str
    shape: str
    scope: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedApprovals:
    """Lists what everybody has allowed in advance."""

    approvals: tuple[ListedApproval, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokeApproval:
    """Takes an approval back."""

    number: int = field(metadata={"refusal": "Give the number of an approval."})


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokedApproval:
    """Names what its person is asked about again."""

    folder: str
    shape: str
