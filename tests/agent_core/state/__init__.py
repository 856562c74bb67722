"""Tests of the database and its queries, on real SQLite."""
