"""An example of a plug-in for Talaria: one module for each kind."""
