"""The pages for account owners and operators: one folder per area, and what all of them share beside them.

They are server-rendered; what they know about an account they learn from the same rules as the API, and an area never
reaches into another one's folder.
"""
