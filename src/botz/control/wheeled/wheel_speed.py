"""PI control of a vehicle's wheel speeds, motor by motor: a controller by itself, and the inner loop of others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from botz.control.base import ControllerSetup, Measured
from botz.errors import InputError, Problem
from botz.scenario.names import closest
from botz.scenario.vehicle.schema import PlacedVehicle, WheelSpeedController, WheelSpeeds


@dataclass(frozen=True)
class MotorDrive:
    """What a speed controller needs to know of a motor."""

    name: str
    lateral: float
    """Mean place of its wheels, left of the centre of mass [m]."""
    radius: float
    """Their mean radius [m]."""
    voltage: float
    """The largest that it can get, either way [V]."""
    top_speed: float
    """Speed of its wheels without load at that voltage [rad/s]."""

    def speed_for(self, forward: float, yaw_rate: float) -> float:
        """Wheel speed [rad/s] of wheels that roll without slip while the vehicle drives [m/s] and turns [rad/s]."""
        return (forward - yaw_rate * self.lateral) / self.radius


def vehicle_of(setup: ControllerSetup, kind: str) -> PlacedVehicle:
    """The robot's description; InputError where it is no vehicle, or has no motor to control."""
    robots = getattr(getattr(setup.engine, "scenario", None), "robots", {})
    vehicle = robots.get(setup.robot)
    if not isinstance(vehicle, PlacedVehicle):
        message = f"{kind!r} drives robots of engine 'vehicle', not of {setup.engine.name!r}"
        raise InputError(Problem(message, key=setup.robot))
    if not vehicle.motors:
        raise InputError(Problem(f"{kind!r} needs a vehicle with motors; this one has none", key=setup.robot))
    return vehicle


def motor_drives(vehicle: PlacedVehicle, names: Iterable[str] | None = None) -> list[MotorDrive]:
    """The motors named, or all of them."""
    drives = []
    for name in vehicle.motors if names is None else names:
        motor = vehicle.motors[name]
        wheels = [vehicle.wheels[wheel] for wheel in motor.wheels]
        voltage = motor.voltage if vehicle.battery is None else min(motor.voltage, vehicle.battery.voltage)
        drives.append(
            MotorDrive(
                name=name,
                lateral=sum(wheel.position[1] for wheel in wheels) / len(wheels),
                radius=sum(wheel.radius for wheel in wheels) / len(wheels),
                voltage=voltage,
                top_speed=voltage * motor.speed_constant / motor.gear_ratio,
            )
        )
    return drives


class SpeedLoop:
    """One PI controller for each motor, all with the same gains: wheel speeds in, voltages out."""

    def __init__(self, drives: Sequence[MotorDrive], gains: WheelSpeeds, period: float):
        self.drives = tuple(drives)
        self.gains = gains
        self.period = period
        self.integrals = {drive.name: 0.0 for drive in self.drives}
        """Integrated error of the speed of each motor [rad]: the whole state."""

    def voltages(self, wanted: Sequence[float], measured: Mapping[str, Any]) -> dict[str, float]:
        """Command {"MOTOR/voltage": V} for the wheel speeds wanted [rad/s], in the order of the motors."""
        command = {}
        for drive, speed in zip(self.drives, wanted, strict=True):
            error = speed - float(measured[f"{drive.name}/speed"])
            command[f"{drive.name}/voltage"] = self._voltage(drive, error)
        return command

    def _voltage(self, drive: MotorDrive, error: float) -> float:
        gains, limit = self.gains, drive.voltage
        before = self.integrals[drive.name]
        after = before + error * self.period
        voltage = gains.proportional * error + gains.integral * after
        if abs(voltage) <= limit:
            self.integrals[drive.name] = after
            return voltage
        # At the limit: an integral that would push further beyond it waits, one that leads back goes on.
        if voltage * error < 0.0:
            self.integrals[drive.name] = after
        return limit if voltage > 0.0 else -limit

    def snapshot(self) -> dict[str, float]:
        return dict(self.integrals)

    def restore(self, saved: Mapping[str, float]) -> None:
        self.integrals = {drive.name: float(saved[drive.name]) for drive in self.drives}


class WheelSpeed:
    """Holds the wheel speeds of the scenario. Motors that it does not name are left alone."""

    def __init__(self, spec: WheelSpeedController):
        self.spec = spec

    def reset(self, setup: ControllerSetup) -> None:
        spec = self.spec
        vehicle = vehicle_of(setup, spec.type)
        if spec.speeds is not None:
            _check_names(spec.speeds, vehicle.motors)
        drives = motor_drives(vehicle, spec.speeds)
        self.loop = SpeedLoop(drives, spec.gains, setup.period)
        if spec.speeds is not None:
            self.wanted = list(spec.speeds.values())
        else:
            self.wanted = [drive.speed_for(spec.forward or 0.0, spec.yaw_rate) for drive in drives]

    def update(self, t: float, measured: Measured) -> dict[str, float]:
        return self.loop.voltages(self.wanted, measured)

    def snapshot(self) -> dict[str, Any]:
        return {"integrals": self.loop.snapshot()}

    def restore(self, saved: dict[str, Any]) -> None:
        self.loop.restore(saved["integrals"])


def _check_names(speeds: Mapping[str, float], motors: Mapping[str, Any]) -> None:
    if not speeds:
        raise InputError(Problem(f"names no motor{closest('', motors)}", key="speeds"))
    problems = [
        Problem(f"no motor {name!r}{closest(name, motors)}", key=f"speeds.{name}")
        for name in speeds
        if name not in motors
    ]
    if problems:
        raise InputError(problems)
