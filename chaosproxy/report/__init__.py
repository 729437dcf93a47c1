"""The journal for people. Rules: reads records and nothing else."""
