"""Whole user journeys: the real gateway and the real SDKs against emulated servers."""
