"""Forgetting and erasing: what a person wants gone is in no table and no file afterwards."""
