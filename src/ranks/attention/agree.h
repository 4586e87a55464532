// Whether all ranks make the same call.
#pragma once

#include "attention/call/refuse.h"
#include "sextant/ranks/agreement.h"
#include "sextant/ranks/attention.h"

namespace sextant::ranks {

using attention_detail::name_in;

// Adds the values that must be the same on all ranks: dtype, shapes, options, and a sample of large
// tables.
template <class T>
Agreement agreement_on(const char* function, View<const T> q, View<const T> k, View<const T> v,
                       const AttentionOptions<T>& options, const Options& ranks);

}  // namespace sextant::ranks
