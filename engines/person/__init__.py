"""What a customer photo shows: pose, matte and what is skin, hair or clothing, from MediaPipe's models."""

from engines.person.segmenter import MediaPipeSegmenter

__all__ = ["MediaPipeSegmenter"]
