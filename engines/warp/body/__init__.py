"""The body that clothes are laid on: joints, limbs, outline and waist, measured from a person map."""
