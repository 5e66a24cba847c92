"""The loop: simulations, time, processes and the memory they share."""
