"""What owners set for their account: the watermark, how long results are kept, how they sign in, and its end."""
