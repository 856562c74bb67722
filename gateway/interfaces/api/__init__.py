"""The API: programs of a person ask and read with that person's token."""
