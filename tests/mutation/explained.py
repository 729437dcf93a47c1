"""The mutants that no test can see, or that none should, and why."""

EXPLAINED: dict[tuple[str, str], str] = {}
