// Multi-section rotary: which pair is rotated by which id.
#include "sextant/schemes/rotated/rotary_sections.h"

#include <string>

#include "core/options/enum_names.h"
#include "schemes/rotated/rotary_axes.h"
#include "schemes/rotated/rotary_scheme.h"

namespace sextant {
namespace {

constexpr std::int64_t kMinAxes = 2;
constexpr std::int64_t kMaxAxes = 8;

std::vector<std::int64_t> checked_sections(const Rotation& rotation, const SectionAxes& options,
                                           std::int64_t axes) {
  const std::int64_t pairs = rotation.pairs();
  std::vector<std::int64_t> sections = options.sections;
  if (sections.empty()) {
    if (axes < kMinAxes || axes > kMaxAxes) {
      throw Error(rotation.where("positions"),
                  "must have 1 .. 8 ids a row, got " + std::to_string(axes));
    }
    for (std::int64_t a = 0; a < axes; ++a) sections.push_back(pairs / axes + (a < pairs % axes));
    return sections;
  }
  const auto count = static_cast<std::int64_t>(sections.size());
  if (count < kMinAxes || count > kMaxAxes) {
    throw Error(rotation.where("sections"), "must be 2 .. 8 numbers, got " + std::to_string(count));
  }
  std::int64_t sum = 0;
  for (const std::int64_t section : sections) {
    check_range(IntegerRange{0, pairs}, rotation.where("sections"), section);
    sum += section;
  }
  if (sum != pairs) {
    throw Error(rotation.where("sections"), "must sum to the " + std::to_string(pairs) +
                                                " rotated pairs, got " + std::to_string(sum));
  }
  return sections;
}

}  // namespace

void set_axes(Rotation& rotation, const SectionAxes& options, std::int64_t axes) {
  check_fields(rotation.scheme, options);
  const std::vector<std::int64_t> sections =
      checked_sections(rotation, options, axes == 1 ? 3 : axes);
  rotation.axes = static_cast<std::int64_t>(sections.size());
  if (options.order == SectionOrder::sectioned) {
    for (std::size_t a = 0; a < sections.size(); ++a) {
      rotation.axis_of_pair.insert(rotation.axis_of_pair.end(),
                                   static_cast<std::size_t>(sections[a]),
                                   static_cast<std::int32_t>(a));
    }
    return;
  }
  rotation.axis_of_pair.assign(static_cast<std::size_t>(rotation.pairs()), 0);
  for (std::int64_t a = 1; a < rotation.axes; ++a) {
    const std::int64_t last = a + rotation.axes * (sections[a] - 1);
    if (last >= rotation.pairs()) {
      throw Error(rotation.where("sections"), "must leave room to interleave them, got " +
                                                  std::to_string(sections[a]) + " pairs of axis " +
                                                  std::to_string(a) + " of " +
                                                  std::to_string(rotation.axes));
    }
    for (std::int64_t k = a; k <= last; k += rotation.axes) {
      rotation.axis_of_pair[k] = static_cast<std::int32_t>(a);
    }
  }
}

std::string_view name_of(SectionOrder order) noexcept {
  return enum_name(order, {"sectioned", "interleaved"});
}

constinit const Scheme descriptors::kRotarySections =
    rotary_scheme<kRotarySections, std::monostate>(
        SectionAxes::name, "rotary sections",
        "Rotary whose pairs are rotated by one of several ids: time, row and column.",
        "Qwen2-VL, Wang et al. 2024, 2409.12191");

}  // namespace sextant
