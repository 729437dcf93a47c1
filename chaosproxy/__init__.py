"""A programmable buffering and chaos proxy for streaming clients.

The public names; everything else is private by declaration.
"""

from chaosproxy.errors import Error, ScenarioError

__all__ = ["Error", "ScenarioError"]
