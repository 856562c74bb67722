"""An assistant inside another program, without a gateway; see docs/library.md."""
