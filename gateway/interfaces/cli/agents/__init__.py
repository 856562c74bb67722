"""`talaria agents`: creates, lists and checks named agents."""
