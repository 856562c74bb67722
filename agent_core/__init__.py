"""The agent: its prompts, models, memory, tools and database. It knows no chat platform."""
