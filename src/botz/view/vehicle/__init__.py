"""Vehicles in pictures and in the lab."""
