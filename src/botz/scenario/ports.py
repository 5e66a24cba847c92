"""Where a served run is found unless a scenario says otherwise; every default of an address stands here.

The first four are the league's own, so that its clients find what they look for. Those of Botz keep clear of the ports
that the league's teams use (20011 to 20013, 30011, 30012).
"""

from __future__ import annotations

LEAGUE_VISION = "224.0.0.1:10002"
LEAGUE_COMMANDS = "127.0.0.1:20011"
REFEREE = "224.5.23.2:10003"
REPLACER = "224.5.23.2:10004"

POSES = "127.0.0.1:20014"
TELEOPERATION = "127.0.0.1:20015"
VOLTAGES = "127.0.0.1:21012"
CAMERA = "127.0.0.1:21013"
