"""Check what an answer claims to have done against what the turn did."""
