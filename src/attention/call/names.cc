// The words for alignments, stages and precisions, the same in C++, Python and on the command line.
#include "core/options/enum_names.h"
#include "sextant/attention/attention.h"

namespace sextant {

std::string_view name_of(Causal causal) noexcept {
  return enum_name(causal, {"none", "top_left", "bottom_right", "at_offsets", "at_lengths"});
}

std::string_view name_of(Stage stage) noexcept {
  return enum_name(stage, {"scores", "capped", "biased", "probabilities"});
}

std::string_view name_of(MatmulPrecision precision) noexcept {
  return enum_name(precision, {"float32", "bfloat16"});
}

}  // namespace sextant
