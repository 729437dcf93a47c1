"""The mutants that no test can see, or that none should, and why."""

EXPLAINED: dict[tuple[str, str], str] = {
    ("http2/output.py Output.body", "if type(event) is not Data or len(event.payload) > most -> if True"): (
        "the ordinary way writes the same bytes"
    ),
    ("http2/windows.py ", "1024 -> 1025"): "a figure of choice; nothing depends on the byte",
    ("chain/acting.py Actor.idles", "if self.closed -> if False"): "`hears_room` asks again before it acts",
}
