// Whether all ranks make the same call.
#pragma once

#include <string>

#include "sextant/ranks/attention.h"

namespace sextant::ranks {

// What errors call an argument: "function.argument".
inline std::string in(const char* function, const char* argument) {
  return std::string(function) + "." + argument;
}

// Throws the same Error on all ranks when dtypes, shapes or options differ between them. Of large
// tables a sample is compared.
template <class T>
void agree(const char* function, const Communicator& comm, View<const T> q, View<const T> k,
           View<const T> v, const AttentionOptions<T>& options, const Options& ranks);

}  // namespace sextant::ranks
