"""Skills that come with Talaria: data only."""
