"""The version of SQLite, without anything that opens a database."""

import sqlite3

SQLITE_VERSION = sqlite3.sqlite_version
