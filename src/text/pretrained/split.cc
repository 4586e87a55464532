// The five behaviors, folded from left to right (merged_with_next: from right to left).
#include "text/pretrained/split.h"

#include <algorithm>

namespace sextant::text {
namespace {

using Stretches = std::vector<Stretch>;

Stretches merged(const Stretches& found, Behavior behavior) {
  Stretches all;
  bool before = false;  // whether the stretch before was a match
  const auto fold = [&](const Stretch& each) {
    const bool joins =
        behavior == Behavior::contiguous ? each.match == before : each.match && !before;
    before = each.match;
    if (!joins || all.empty()) {
      all.push_back(each);
    } else {
      all.back().begin = std::min(all.back().begin, each.begin);
      all.back().end = std::max(all.back().end, each.end);
    }
  };
  if (behavior == Behavior::merged_with_next) {
    std::for_each(found.rbegin(), found.rend(), fold);
    std::ranges::reverse(all);
  } else {
    std::for_each(found.begin(), found.end(), fold);
  }
  return all;
}

}  // namespace

Behavior read_behavior(const Field& field) {
  return static_cast<Behavior>(
      field.choice({"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"}));
}

void split(Parts& parts, const std::function<std::vector<Stretch>(std::string_view)>& find,
           Behavior behavior, bool invert) {
  std::vector<Part> divided;
  divided.reserve(parts.parts.size());
  for (const Part& part : parts.parts) {
    if (part.added >= 0) {
      divided.push_back(part);
      continue;
    }
    Stretches found =
        find(std::string_view(parts.text.text()).substr(part.begin, part.end - part.begin));
    if (invert) {
      for (Stretch& each : found) each.match = !each.match;
    }
    if (behavior != Behavior::removed && behavior != Behavior::isolated) {
      found = merged(found, behavior);
    }
    for (const Stretch& each : found) {
      if (behavior == Behavior::removed && each.match) continue;
      if (each.begin == each.end) continue;
      divided.push_back({part.begin + each.begin, part.begin + each.end});
    }
  }
  parts.parts = std::move(divided);
}

}  // namespace sextant::text
