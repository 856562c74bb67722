"""Tests of forgetting and erasing."""
