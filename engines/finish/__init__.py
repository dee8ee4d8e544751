"""After every engine: what it drew goes back into the photo, and is judged before anybody sees it."""
