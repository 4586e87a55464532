// The words for alignments and stages, the same in C++, Python and on the command line.
#include <array>
#include <cstddef>
#include <string>

#include "core/quoted_text.h"
#include "sextant/attention/attention.h"

namespace sextant {
namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, 5> kCausalNames = {"none", "top_left", "bottom_right",
                                                          "at_offsets", "at_lengths"};
constexpr std::array<std::string_view, 4> kStageNames = {"scores", "capped", "biased",
                                                         "probabilities"};

// "unknown" for a number that was cast to the enum and is none of its values.
template <class Enum, std::size_t count>
std::string_view name(const std::array<std::string_view, count>& names, Enum value) noexcept {
  const auto index = static_cast<std::size_t>(value);
  return index < names.size() ? names[index] : "unknown";
}

template <class Enum, std::size_t count>
Enum parse(const std::array<std::string_view, count>& names, std::string_view name,
           std::string_view where) {
  std::string known;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
    known += (i == 0 ? "" : ", ") + std::string(names[i]);
  }
  throw Error(where, "must be one of " + known + ", got " + quoted_text(name));
}

}  // namespace

std::string_view name_of(Causal causal) noexcept { return name(kCausalNames, causal); }

std::string_view name_of(Stage stage) noexcept { return name(kStageNames, stage); }

Causal parse_causal(std::string_view name, std::string_view where) {
  return parse<Causal>(kCausalNames, name, where);
}

Stage parse_stage(std::string_view name, std::string_view where) {
  return parse<Stage>(kStageNames, name, where);
}

}  // namespace sextant
