"""What `tryon doctor` looks at, one file for each subject.

A probe only looks: it repairs nothing, and knows nothing of how findings are printed.
"""
