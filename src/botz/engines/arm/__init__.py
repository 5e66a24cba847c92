"""Engine `arm`: serial chains of joints."""
