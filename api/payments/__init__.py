"""Who takes the money: providers behind one protocol, and what they send when it came.

What is paid for, and what becomes of it, is decided in `domain.billing.payments`.
"""
