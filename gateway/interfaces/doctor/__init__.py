"""Checks that ask the services and read the whole database, and fixes that are safe."""

from gateway.interfaces.doctor.live import examine_live
from gateway.interfaces.doctor.probes import check_model, check_platform
from gateway.interfaces.doctor.repairs import repair

__all__ = ["check_model", "check_platform", "examine_live", "repair"]
