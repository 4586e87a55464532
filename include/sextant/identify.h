// Names the scheme that made an array of positions, from its numbers alone.
#pragma once

#include "sextant/identify/identify.h"
