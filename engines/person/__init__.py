"""What a customer photo shows: pose, matte and what is skin, hair or clothing, from MediaPipe's models."""
