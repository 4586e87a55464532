// Models: choosing tokens from what a model says comes next.
#pragma once

#include "sextant/models/beam_search.h"
#include "sextant/models/sampling.h"
