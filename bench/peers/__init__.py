"""The same job on this service, on Celery with Valkey, and as a bare loop: how fast each is, and what each loses."""
