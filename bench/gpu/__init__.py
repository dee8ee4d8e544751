"""What a picture of the generative engines costs on this machine's GPU; random weights cost what trained ones do."""
