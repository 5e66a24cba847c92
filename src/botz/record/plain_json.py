"""Values for JSON that any parser takes."""

from __future__ import annotations

import math
from typing import Any


def finite(value: Any) -> Any:
    """The same with null for numbers that are not finite, which JSON has no word for."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value
