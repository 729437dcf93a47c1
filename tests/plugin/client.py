"""What a user's test asks with."""

CLIENT = """
import urllib.request, http.client

def read(url):
    body = b""
    try:
        with urllib.request.urlopen(url, timeout=20) as answer:
            while part := answer.read1():
                body += part
    except (OSError, http.client.HTTPException):
        return body, False
    return body, True
"""
