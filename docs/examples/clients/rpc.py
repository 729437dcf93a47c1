"""What the probes of gRPC have in common: where the method is, and its messages, with no code generated.

service Check { rpc Stream(google.protobuf.StringValue) returns (stream google.protobuf.StringValue); }
"""

import os

TARGET = os.environ.get("CHAOSPROXY_URL", "http://127.0.0.1:8666").partition("://")[2]
STREAM = "/chaosproxy.Check/Stream"
CANCELS = os.environ.get("CHAOSPROXY_CASE") == "grpc-leave-cancel"
"""In this case the application is to cancel the call where it leaves it."""


def write(text):
    """A StringValue shorter than 128 bytes."""
    content = text.encode()
    return b"\x0a" + bytes([len(content)]) + content


def read(message):
    """The text of one. It is strict, as generated code is: what is no such message raises."""
    if not message:
        return ""
    if message[0] != 0x0A or len(message) != message[1] + 2:
        raise ValueError("not a StringValue")
    return message[2:].decode()
