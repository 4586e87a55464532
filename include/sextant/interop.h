// Formats of other software: model configurations, checkpoints and layouts of rotary weights.
#pragma once

#include "sextant/interop/convert_checkpoint.h"
#include "sextant/interop/convert_rotary.h"
#include "sextant/interop/model_config.h"
#include "sextant/interop/stored_table.h"
