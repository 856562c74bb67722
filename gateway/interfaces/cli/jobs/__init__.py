"""`talaria jobs`: lists, changes, adds and previews scheduled jobs."""
