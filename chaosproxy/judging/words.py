"""How numbers are said in a verdict. Must not know: what they are of."""

from chaosproxy.model.units import show_duration


def ms(seconds: float) -> str:
    """`2003 ms`; a fraction below 10 ms."""
    milliseconds = seconds * 1000
    return f"{milliseconds:.1f} ms" if abs(milliseconds) < 10 else f"{milliseconds:.0f} ms"


def limit(seconds: float) -> str:
    """As a scenario writes it: `500ms`, `2s`."""
    return show_duration(seconds)
