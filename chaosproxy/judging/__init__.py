"""Did it behave? Checks of finished exchanges, each with a verdict that says what was expected and what was seen.

Rules: a check is a frozen spec (its YAML, its reference), as a fault is; it reads records and nothing else, and says the
same of the same records. Nothing is good because nothing happened: a check that finds nothing to judge has failed. Must
not know: how a record was made, the scenario's text, terminals.
"""
