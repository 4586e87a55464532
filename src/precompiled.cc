// Nothing: what it is compiled for is the precompiled header that all components share.
