"""The same trials for Talaria, a bare bot and peers: `python -m bench.peers [NAME ...]`.

Every bot stands behind one contract (`contract.Bot`), talks to the emulated Telegram, and asks one
scripted model. `trials` kills them, floods them and counts.
"""
