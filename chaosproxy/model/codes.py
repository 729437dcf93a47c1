"""HTTP/2 error codes (RFC 9113 section 7), as scenarios and the journal name them; other protocols' endings are told in
them too.

Must not know: who sends one, when.
"""

from typing import Literal, get_args

CodeName = Literal[
    "NO_ERROR",
    "PROTOCOL_ERROR",
    "INTERNAL_ERROR",
    "FLOW_CONTROL_ERROR",
    "SETTINGS_TIMEOUT",
    "STREAM_CLOSED",
    "FRAME_SIZE_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "COMPRESSION_ERROR",
    "CONNECT_ERROR",
    "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY",
    "HTTP_1_1_REQUIRED",
]
NAMES: tuple[CodeName, ...] = get_args(CodeName)
"""By number."""
NO_ERROR = NAMES.index("NO_ERROR")
PROTOCOL_ERROR = NAMES.index("PROTOCOL_ERROR")
INTERNAL_ERROR = NAMES.index("INTERNAL_ERROR")
FLOW_CONTROL_ERROR = NAMES.index("FLOW_CONTROL_ERROR")
SETTINGS_TIMEOUT = NAMES.index("SETTINGS_TIMEOUT")
STREAM_CLOSED = NAMES.index("STREAM_CLOSED")
FRAME_SIZE_ERROR = NAMES.index("FRAME_SIZE_ERROR")
REFUSED_STREAM = NAMES.index("REFUSED_STREAM")
CANCEL = NAMES.index("CANCEL")
COMPRESSION_ERROR = NAMES.index("COMPRESSION_ERROR")
ENHANCE_YOUR_CALM = NAMES.index("ENHANCE_YOUR_CALM")


def code_name(code: int) -> str:
    """`CANCEL` for 8; a code without a name is shown in hexadecimal."""
    return NAMES[code] if 0 <= code < len(NAMES) else f"0x{code:x}"


def code_number(code: CodeName | int) -> int:
    """8 for `CANCEL`; a number as it is."""
    return code if isinstance(code, int) else NAMES.index(code)
