"""A person's rights over their data: erasure and export."""
