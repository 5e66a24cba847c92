"""Engines: a world's state, advanced many steps in one compiled call."""
