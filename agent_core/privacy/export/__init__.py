"""All that the house holds of a person, as files that they can read elsewhere."""
