// The plain tables that schemes make and kernels read: rotations, distance biases, indexed biases
// and content terms.
#pragma once

#include "sextant/tables/call_extents.h"
#include "sextant/tables/distance_bias.h"
#include "sextant/tables/rotation_table.h"
#include "sextant/tables/score_term.h"
