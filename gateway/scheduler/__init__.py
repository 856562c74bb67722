"""The scheduler: claims due slots, runs scripts and system jobs, and recovers runs."""
