"""Tests of the skills that come with Talaria."""
