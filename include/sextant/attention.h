// Attention: the one operator.
#pragma once

#include "sextant/attention/attention.h"
#include "sextant/attention/backward.h"
