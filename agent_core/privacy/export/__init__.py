"""The export of all data of a person as readable files."""
