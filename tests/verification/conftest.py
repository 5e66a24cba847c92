"""Says what differs where a test of a family fails: its assertions stand outside the files of tests."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("verified_family")
