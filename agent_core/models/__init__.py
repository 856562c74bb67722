"""Model providers behind one contract, with images, fingerprints, prices and token estimates.

Each provider is a plug-in package; nothing imports it by name.
"""
