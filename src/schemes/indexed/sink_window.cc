// The mask of StreamingLLM: two ranges of keys for each query.
#include "sextant/schemes/indexed/sink_window.h"

#include <algorithm>

#include "schemes/definition.h"
#include "schemes/indexed/mask_term.h"

namespace sextant {

template <>
inline constexpr auto kFields<SinkWindow> =
    std::tuple{field(&SinkWindow::first_keys, "first_keys", at_least(0),
                     "keys with ids below it are visible to every later query: the sinks"),
               field(&SinkWindow::window, "window", at_least(1),
                     "visible keys up to the query's own, which counts")};

std::shared_ptr<const ScoreTerm> sink_window(const SinkWindow& options,
                                             std::span<const std::int64_t> positions) {
  check_fields("sink_window", options);
  constexpr std::int64_t kBeyondAllIds = std::int64_t{1} << 54;
  const auto visible = [first_keys = std::min(options.first_keys, kBeyondAllIds),
                        window = std::min(options.window, 2 * kBeyondAllIds)](std::int64_t query) {
    return schemes_detail::IdRange{
        .first = query - window + 1, .last = query, .also_below = first_keys};
  };
  return schemes_detail::id_mask(schemes_detail::PositionRuns("sink_window", positions), visible);
}

namespace descriptors {
namespace {

constexpr Definition<NoWeights, SinkWindow> kDefinition = {
    .name = "sink_window",
    .title = "sink + window",
    .kind = SchemeKind::indexed_bias,
    .idea = "Shows every query the first keys and a window of the last ones, and hides the rest.",
    .paper = "Xiao et al. 2023, 2309.17453",
    .make = [](const auto& of) -> SchemeTable { return sink_window(of, of.ids()); },
};

}  // namespace

constinit const Scheme kSinkWindow = scheme_of<kSinkWindow, kDefinition>();

}  // namespace descriptors
}  // namespace sextant
