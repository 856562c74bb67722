"""`talaria backup`: packs a copy of the database with the files of the home."""
