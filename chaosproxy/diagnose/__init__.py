"""Which hop breaks a stream, and how: the same request to each of them, from the server outwards, and what differs.

Rules: measuring (`measure`, `leaving`) is apart from judging, which is pure: answers in, changes and a verdict out. Each
hop is judged by what came out of the one inside of it. What the evidence does not carry is said to be thin. Must not
know: options, terminals but for the picture.
"""
