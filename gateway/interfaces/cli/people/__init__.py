"""`talaria people`: lists people, lets them in, and exports or erases their data."""
