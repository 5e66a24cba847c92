"""Equations of wheels: contact, tyres, suspension, motors."""
