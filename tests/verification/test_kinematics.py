"""`botz verify kinematics`."""

from __future__ import annotations

from verified_family import FamilyTests


class TestKinematics(FamilyTests):
    family = "kinematics"

    def test_every_check_can_fail(self):
        named = {name for mutation in self.mutations for name in mutation.noticed_by}
        assert named == set(self.names)
