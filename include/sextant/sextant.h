// Sextant: positions and attention in transformers, on the CPU. This header includes all of it.
#pragma once

#include "sextant/attention.h"
#include "sextant/core.h"
#include "sextant/kernels.h"
#include "sextant/layers.h"
#include "sextant/models.h"
#include "sextant/pictures.h"
#include "sextant/schemes.h"
#include "sextant/text.h"
#include "sextant/training.h"
