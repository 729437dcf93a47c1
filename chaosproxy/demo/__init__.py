"""What a scenario does to a stream, as a picture: the embedded origin asked twice, straight and through the proxy.

Rules: what is shown was measured, in a run of the real proxy and the real origin; nothing is calculated instead. Must
not know: the command line's options, how a fault works.
"""
