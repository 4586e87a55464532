"""The state of the process that every test starts from."""

import signal

# A shell has the programs that it starts in the background ignore Ctrl-C, and these would have the programs of the tests ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
