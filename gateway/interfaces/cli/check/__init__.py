"""`talaria check`: checks the installation without changing it, or asks the running gateway."""
