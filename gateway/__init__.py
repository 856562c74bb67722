"""The hall: where chat platforms and the agent meet; nothing imports it."""
