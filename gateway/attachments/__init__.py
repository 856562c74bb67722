"""Attachments of messages: pictures, voice notes and documents, prepared for a model."""
