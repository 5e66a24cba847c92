"""`botz verify vehicle`."""

from __future__ import annotations

from verified_family import FamilyTests


class TestVehicle(FamilyTests):
    family = "vehicle"
