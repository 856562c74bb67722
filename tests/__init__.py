"""The tests: mirrors of the tree, emulators, contracts, journeys, faults and the gateway."""
