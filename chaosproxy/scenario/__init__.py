"""The scenario language: what a user writes, read into immutable snapshots, and the rules that apply them."""
