// Experiments: train on short texts, test on long ones.
#pragma once

#include "sextant/experiments/exchange_positions.h"
#include "sextant/experiments/extrapolation.h"
#include "sextant/experiments/extrapolation_run.h"
#include "sextant/experiments/seeds.h"
