"""Installation of skills: sources and hubs, a scan, and the versions of a skill."""
