"""Google's client for Gemini."""

from answer import SECONDS, URL, run
from google import genai
from google.genai.types import HttpOptions


def ask(answer):
    options = HttpOptions(base_url=URL, timeout=int(SECONDS * 1000) if SECONDS else None)
    client = genai.Client(api_key="k", http_options=options)
    for part in client.models.generate_content_stream(model="m", contents="hi"):
        answer.text += part.text or ""
        for candidate in part.candidates or ():
            answer.finish = candidate.finish_reason or answer.finish


run(ask)
