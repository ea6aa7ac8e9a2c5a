"""What tests need that start programs of their own."""

import signal


def heed_ctrl_c():
    """Let a program heed Ctrl-C, as `preexec_fn`: a shell has those in the background ignore it, and all that they start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
