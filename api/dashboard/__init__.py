"""The pages for account owners and operators: one module per area, and what all of them share beside them.

They are server-rendered, and learn what they know about an account from the same rules as the API.
"""
