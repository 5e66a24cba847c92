"""Controllers of wheeled robots and vehicles."""
