"""The process that polls the GPU queue: sets segmenter and engine up once, then segments and renders."""
