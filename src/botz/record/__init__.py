"""Recordings: one MCAP file a run, written in bulk, read back, exported and compared."""
