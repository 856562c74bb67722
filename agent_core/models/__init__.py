"""Model providers behind one contract, with images, fingerprints, prices and token estimates."""
