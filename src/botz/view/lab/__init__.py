"""The lab: one page in a browser that shows runs, takes the driver's hands, and replays. This side serves it."""
