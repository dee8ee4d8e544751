"""Finds the person in a customer photo: the pose, the matte, and which pixels are skin, hair or clothing."""

from engines.person.segmenter import MediaPipeSegmenter

__all__ = ["MediaPipeSegmenter"]
