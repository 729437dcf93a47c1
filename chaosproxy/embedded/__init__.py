"""The proxy inside another program: in a thread of its own (`serve`), in the caller's Trio run (`open_proxy`)."""
