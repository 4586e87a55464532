// Several processes, the ranks of MPI, that work on one call: over the sequence and over the batch.
// Only in builds with SEXTANT_MPI. docs/parallel.md explains when to divide what.
#pragma once

#include "sextant/ranks/agreement.h"
#include "sextant/ranks/attention.h"
#include "sextant/ranks/communicator.h"
#include "sextant/ranks/npy.h"
#include "sextant/ranks/plan.h"
#include "sextant/ranks/session.h"
#include "sextant/ranks/sharding.h"
#include "sextant/ranks/training.h"
