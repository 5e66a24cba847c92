"""Controllers of serial arms: programs of joint and tool motions."""
