"""Operations that import what another assistant knows."""

from gateway.interfaces.operations.imports.operations import IMPORT_OPERATIONS

__all__ = ["IMPORT_OPERATIONS"]
