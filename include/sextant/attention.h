// Attention: the operator, its gradients, the KV cache, weights and their statistics, and the plan
// of a call.
#pragma once

#include "sextant/attention/attention.h"
#include "sextant/attention/backward.h"
#include "sextant/attention/dual_chunk.h"
#include "sextant/attention/kv_cache.h"
#include "sextant/attention/path_attention.h"
#include "sextant/attention/plan.h"
#include "sextant/attention/polar.h"
#include "sextant/attention/selective_attention.h"
#include "sextant/attention/self_extend.h"
#include "sextant/attention/statistics.h"
#include "sextant/attention/stick_breaking.h"
