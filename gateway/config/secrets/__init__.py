"""The secrets that tools use by name, from a file of the home."""

from gateway.config.secrets.named import list_secret_variables as list_secret_variables
from gateway.config.secrets.named import read_named_secrets as read_named_secrets
