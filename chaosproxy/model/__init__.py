"""Pure data that every layer speaks: the events of an exchange, header lists, units. Imports nothing of ours."""
