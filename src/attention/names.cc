// The words for alignments and stages, the same in C++, Python and on the command line.
#include <array>
#include <string>

#include "sextant/attention/attention.h"

namespace sextant {
namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, 4> kCausalNames = {"none", "top_left", "bottom_right",
                                                          "at_offsets"};
constexpr std::array<std::string_view, 4> kStageNames = {"scores", "capped", "biased",
                                                         "probabilities"};

template <class Enum>
Enum parse(const std::array<std::string_view, 4>& names, std::string_view name,
           std::string_view where) {
  std::string known;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
    known += (i == 0 ? "" : ", ") + std::string(names[i]);
  }
  throw Error(where, "must be one of " + known + ", got \"" + std::string(name) + "\"");
}

}  // namespace

std::string_view name_of(Causal causal) noexcept {
  return kCausalNames[static_cast<std::size_t>(causal)];
}

std::string_view name_of(Stage stage) noexcept {
  return kStageNames[static_cast<std::size_t>(stage)];
}

Causal parse_causal(std::string_view name, std::string_view where) {
  return parse<Causal>(kCausalNames, name, where);
}

Stage parse_stage(std::string_view name, std::string_view where) {
  return parse<Stage>(kStageNames, name, where);
}

}  // namespace sextant
