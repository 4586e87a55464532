// Multi-section rotary: which pair turns by which id.
#include "sextant/schemes/rotated/rotary_sections.h"

#include <numeric>
#include <string>

#include "core/option_checks.h"
#include "schemes/rotated/rotation_generator.h"
#include "schemes/rotated/rotation_parameters.h"

namespace sextant {
namespace {

constexpr std::int64_t kLeastAxes = 2;
constexpr std::int64_t kMostAxes = 8;

std::vector<std::int64_t> checked_sections(const Rotation& rotation, const RotarySections& options,
                                           std::int64_t axes) {
  const std::int64_t pairs = rotation.pairs();
  std::vector<std::int64_t> sections = options.sections;
  if (sections.empty()) {
    if (axes < kLeastAxes || axes > kMostAxes) {
      throw Error(rotation.where("positions"),
                  "must have 1 .. 8 ids a row, got " + std::to_string(axes));
    }
    for (std::int64_t a = 0; a < axes; ++a) sections.push_back(pairs / axes + (a < pairs % axes));
    return sections;
  }
  const auto count = static_cast<std::int64_t>(sections.size());
  if (count < kLeastAxes || count > kMostAxes) {
    throw Error(rotation.where("sections"), "must be 2 .. 8 numbers, got " + std::to_string(count));
  }
  std::int64_t sum = 0;
  for (const std::int64_t section : sections) {
    if (section < 0 || section > pairs) {
      throw Error(rotation.where("sections"), "must each be 0 .. " + std::to_string(pairs) +
                                                  ", got " + std::to_string(section));
    }
    sum += section;
  }
  if (sum != pairs) {
    throw Error(rotation.where("sections"), "must sum to the " + std::to_string(pairs) +
                                                " pairs that turn, got " + std::to_string(sum));
  }
  return sections;
}

// `axes` as of the ids; 1: the same id for all.
Rotation rotation_of(const RotarySections& options, std::int64_t axes) {
  Rotation rotation = checked_rotation("rotary_sections", options);
  check_named(rotation.where("order"), options.order);
  const std::vector<std::int64_t> sections =
      checked_sections(rotation, options, axes == 1 ? 3 : axes);
  rotation.axes = static_cast<std::int64_t>(sections.size());
  set_ladder(rotation, options.base, rotation.dim);
  if (options.order == SectionOrder::sectioned) {
    for (std::size_t a = 0; a < sections.size(); ++a) {
      rotation.axis_of_pair.insert(rotation.axis_of_pair.end(),
                                   static_cast<std::size_t>(sections[a]),
                                   static_cast<std::int32_t>(a));
    }
    return rotation;
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
  return rotation;
}

Rotation rotation_of_text(const RotarySections& options) { return rotation_of(options, 1); }

}  // namespace

template <Floating T>
RotationTable<T> rotary_sections(const RotarySections& options, View<const std::int64_t> ids) {
  return make_rotation_of_axes<T>(rotation_of(options, ids.rank() == 2 ? ids.size(1) : 0), ids);
}

SEXTANT_ROTATION(rotary_sections, RotarySections, rotation_of_text)

template RotationTable<float> rotary_sections(const RotarySections&, View<const std::int64_t>);
template RotationTable<double> rotary_sections(const RotarySections&, View<const std::int64_t>);
template RotationTable<bfloat16> rotary_sections(const RotarySections&, View<const std::int64_t>);
template RotationTable<float16> rotary_sections(const RotarySections&, View<const std::int64_t>);

RotationFrequencies rotation_frequencies(const RotarySections& options) {
  return frequencies_of(rotation_of(options, 1));
}

std::vector<std::int32_t> rotary_section_axes(const RotarySections& options, std::int64_t axes) {
  return rotation_of(options, axes).axis_of_pair;
}

namespace descriptors {
namespace {

constexpr SchemeParameter kOwn[] = {
    {"sections", "auto", "auto, whole numbers",
     "pairs that turn by each id: 16,24,24; auto: as equal as possible"},
    {"order", "sectioned", "sectioned | interleaved",
     "the pairs of an axis together, or those of all axes in turn"},
};
constexpr auto kParameters = rotation_parameters(kOwn);

RotarySections options_of(const Parameters& given, const SchemeRequest& request) {
  auto options = rotation_options<RotarySections>(given, request);
  options.sections = integers_or_auto(given, "sections");
  options.order = parse_name<SectionOrder>(given.text("order"), given.where("order"));
  return options;
}

SchemeTable make(const SchemeRequest& request) {
  const Parameters given(kRotarySections, request);
  const RotarySections options = options_of(given, request);
  if (request.axes == 1) return rotary_sections<double>(options, request.positions);
  return rotary_sections<double>(options, ids_of(request));
}

RotationFrequencies frequencies(const SchemeRequest& request) {
  return rotation_frequencies(options_of(Parameters(kRotarySections, request), request));
}

}  // namespace

constinit const Scheme kRotarySections = {
    .name = "rotary_sections",
    .kind = SchemeKind::rotated,
    .idea = "Rotary whose pairs turn by one of several ids: time, row and column.",
    .paper = "Qwen2-VL, Wang et al. 2024, 2409.12191",
    .parameters = kParameters,
    .make = make,
    .frequencies = frequencies,
};

}  // namespace descriptors
}  // namespace sextant
