// Attention: the one operator, its gradients, what it looks at, and what a call will do.
#pragma once

#include "sextant/attention/attention.h"
#include "sextant/attention/backward.h"
#include "sextant/attention/plan.h"
#include "sextant/attention/statistics.h"
