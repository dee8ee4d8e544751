"""Pages for people who are not signed in: signing up and in, links from mail, and the outbox of one machine."""
