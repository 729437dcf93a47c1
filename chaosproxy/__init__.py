"""A programmable buffering and chaos proxy for streaming clients."""
