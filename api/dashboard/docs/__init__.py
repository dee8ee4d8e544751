"""The texts in ``docs/`` as pages of the dashboard, and a quickstart with the account's own key in it."""
