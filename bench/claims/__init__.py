"""False claims and honest answers, to measure the claim check with."""
