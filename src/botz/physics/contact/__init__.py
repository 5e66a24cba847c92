"""Equations of contact: ground, boxes, penalty forces."""
