"""The version of SQLite; a module of its own, because it does not load the database engine."""

import sqlite3

SQLITE_VERSION = sqlite3.sqlite_version
