// Attention: the one operator, its gradients, the cache of keys and values, what the operator looks
// at, and what a call will do.
#pragma once

#include "sextant/attention/attention.h"
#include "sextant/attention/backward.h"
#include "sextant/attention/kv_cache.h"
#include "sextant/attention/plan.h"
#include "sextant/attention/statistics.h"
