// From position ids to the rows of a rotation's tables.
#pragma once

#include <string_view>

#include "attention/call/arguments.h"

namespace sextant::attention_detail {

// Sets the rows of the ids of queries and keys: the ids themselves where row n is that of position
// n. Throws Error for an id of a query or a visible key that a list of positions lacks.
void read_rotation_rows(std::string_view function, AttentionCall& call);

}  // namespace sextant::attention_detail
