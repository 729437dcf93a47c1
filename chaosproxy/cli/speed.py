"""`--speed X`: how many times as fast a scenario runs."""

import click

from chaosproxy.model.units import SPEEDS, is_speed


class SpeedType(click.ParamType[float]):
    """What the Python API takes too: a finite number above 0."""

    name = "speed"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            speed = float(str(value))
        except ValueError:
            speed = 0.0
        if not is_speed(speed):
            self.fail(f"{value!r}: write {SPEEDS}", param, ctx)
        return speed
