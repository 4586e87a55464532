// Includes all installed components of Sextant: positions and attention in transformers, on the
// CPU.
#pragma once

#include "sextant/attention.h"
#include "sextant/core.h"
#include "sextant/identify.h"
#include "sextant/interop.h"
#include "sextant/kernels.h"
#include "sextant/schemes.h"
#include "sextant/tables.h"

#if __has_include("sextant/text.h")
#include "sextant/text.h"
#endif
#if __has_include("sextant/pictures.h")
#include "sextant/pictures.h"
#endif
#if __has_include("sextant/figures.h")
#include "sextant/figures.h"
#endif
#if __has_include("sextant/layers.h")
#include "sextant/experiments.h"
#include "sextant/hub.h"
#include "sextant/layers.h"
#include "sextant/lessons.h"
#include "sextant/models.h"
#include "sextant/training.h"
#endif
#if __has_include("sextant/ranks.h")
#include "sextant/ranks.h"
#endif
