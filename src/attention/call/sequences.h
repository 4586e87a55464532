// The sequences of a call, and the keys that each query may see by position.
#pragma once

#include <string_view>

#include "attention/call/arguments.h"

namespace sextant::attention_detail {

// Puts segments into the call, whose sizes are known; throws Error if they do not fit.
template <class M>
void read_segments(std::string_view function, const AttentionOptionsOf<M>& options,
                   AttentionCall& call);

// Puts the diagonal, the window and lengths of keys into the call, whose segments
// and position ids are known; throws Error if they do not fit.
template <class M>
void read_sequences(std::string_view function, const AttentionOptionsOf<M>& options,
                    AttentionCall& call);

}  // namespace sextant::attention_detail
