"""Tests of the outside memory: its queue, what is heard from it, and Honcho with its real SDK."""
