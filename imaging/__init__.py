"""Bytes to pixels and back, safely.

Everything a stranger sends or a foreign server answers becomes a plain sRGB array here, or an `ImageError`. The
package knows nothing of HTTP frameworks, databases, queues or settings: limits are handed in.
"""
