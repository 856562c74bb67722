"""Programs of their own that read what strangers wrote, each within bounds."""
