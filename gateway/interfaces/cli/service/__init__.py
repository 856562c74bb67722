"""`talaria service`: each verb runs commands of the machine's service manager."""
