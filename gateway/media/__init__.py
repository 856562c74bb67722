"""Media: pictures, voice notes and documents of messages, prepared for a model."""
