"""Operations on outgoing webhooks."""
