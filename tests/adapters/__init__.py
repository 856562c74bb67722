"""Tests of the platforms: Markdown, splitting, and a folder for each platform."""
