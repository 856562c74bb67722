"""Access to the network: allowed addresses, the lookup of hosts, and the sandbox's proxy."""
