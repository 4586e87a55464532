// The lowest component: errors, element types, tensors and views, threads, random numbers, files.
#pragma once

#include "sextant/core/dtype.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/core/lifetime.h"
#include "sextant/core/missing_file.h"
#include "sextant/core/names.h"
#include "sextant/core/npy.h"
#include "sextant/core/numbers.h"
#include "sextant/core/options.h"
#include "sextant/core/parallel.h"
#include "sextant/core/printable.h"
#include "sextant/core/random.h"
#include "sextant/core/safetensors.h"
#include "sextant/core/scratch.h"
#include "sextant/core/tensor.h"
#include "sextant/core/tensor_file.h"
