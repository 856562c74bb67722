"""Daily quotas: check and reserve the cost of each model call before it is made."""

from agent_core.agent.quotas.background import (
    AnswerPending,
    BackgroundModel,
    Ticket,
    Tickets,
    call_in_background,
)
from agent_core.agent.quotas.balance import DailyLimit, Unit, Whose, day_of
from agent_core.agent.quotas.reservations import (
    QuotaRules,
    Quotas,
    QuotaStatus,
)

__all__ = [
    "AnswerPending",
    "BackgroundModel",
    "DailyLimit",
    "QuotaRules",
    "QuotaStatus",
    "Quotas",
    "Ticket",
    "Tickets",
    "Unit",
    "Whose",
    "call_in_background",
    "day_of",
]
