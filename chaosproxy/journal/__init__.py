"""What happened, one record per exchange: facts in, pure readers out.

Rules: records are filled by the driver while an exchange runs and never changed after it ended. Expectations and
reports only read. Must not know: sessions, sockets, faults' insides.
"""
