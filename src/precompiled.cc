// Contains nothing: it is compiled for the precompiled header that all components share.
