"""What a user looks at: plots, comparisons, drawings."""
