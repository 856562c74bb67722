"""Reader programs of web pages and PDF files, and what all reader programs share."""
