"""DWPose: where the joints of a person are, and the grey map of them that the network is shown."""
