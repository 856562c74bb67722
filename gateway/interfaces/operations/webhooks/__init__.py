"""Operations on outgoing webhooks."""

from gateway.interfaces.operations.webhooks.operations import (
    WEBHOOK_OPERATIONS as WEBHOOK_OPERATIONS,
)
