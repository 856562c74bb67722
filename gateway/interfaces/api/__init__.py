"""The API: a person's programs ask and read with a token of that person."""
