"""Daily quotas: check and reserve the cost of each model call before it is made."""

from agent_core.agent.quotas.balance import DailyLimit, day_of
from agent_core.agent.quotas.reservations import QuotaRules, Quotas, QuotaStatus

__all__ = [
    "DailyLimit",
    "QuotaRules",
    "QuotaStatus",
    "Quotas",
    "day_of",
]
