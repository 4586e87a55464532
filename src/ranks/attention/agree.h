// Whether all ranks make the same call.
#pragma once

#include <string>

#include "sextant/ranks/agreement.h"
#include "sextant/ranks/attention.h"

namespace sextant::ranks {

// What errors call an argument: "function.argument".
inline std::string in(const char* function, const char* argument) {
  return std::string(function) + "." + argument;
}

// What must be the same on all ranks: dtype, shapes, options. Of large tables a sample.
template <class T>
Agreement agreement_on(const char* function, View<const T> q, View<const T> k, View<const T> v,
                       const AttentionOptions<T>& options, const Options& ranks);

}  // namespace sextant::ranks
