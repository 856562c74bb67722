"""Try requests of everyday with a real model, judged by what is in the database afterwards."""
