"""What every engine with a generative network shares: its protocol, what it is shown, and how its picture goes back."""
