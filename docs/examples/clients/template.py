"""A client of your own in Python: chaosproxy check -- python template.py"""

import json
import os


def words():
    """Yields the text of one answer as it comes; asks CHAOSPROXY_URL and not its provider."""
    raise NotImplementedError(os.environ["CHAOSPROXY_URL"])


text, error = "", None
try:
    for word in words():
        text += word
except Exception as raised:  # noqa: BLE001 - whatever it is, it is the answer
    error = f"{type(raised).__name__}: {raised}"
print(json.dumps({"text": text, "finish": None, "outcome": "raised" if error else "ok", "error": error}))
