"""What may be spent in a day, checked and reserved before each model call."""
