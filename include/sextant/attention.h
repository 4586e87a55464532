// Attention: the one operator, its gradients, and what a call will do.
#pragma once

#include "sextant/attention/attention.h"
#include "sextant/attention/backward.h"
#include "sextant/attention/plan.h"
