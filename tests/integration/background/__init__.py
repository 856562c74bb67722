"""Work in the background of whole gateways."""
