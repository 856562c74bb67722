"""WhatsApp, by the Cloud API of Meta."""
