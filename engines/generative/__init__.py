"""Shared by the engines with a generative network: the protocol, the references, and the passes."""
