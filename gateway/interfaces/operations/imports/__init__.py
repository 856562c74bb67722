"""Operations that import the memory and jobs of another assistant."""

from gateway.interfaces.operations.imports.operations import IMPORT_OPERATIONS

__all__ = ["IMPORT_OPERATIONS"]
