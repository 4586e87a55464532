// Rotary positions: frequencies are set, scaled and assigned to axes, then become a table.
#include "sextant/schemes/rotated/rotary.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "core/arrays/each_dtype.h"
#include "core/options/enum_names.h"
#include "schemes/added/sine_blocks.h"
#include "schemes/rotated/rotary_axes.h"
#include "schemes/rotated/rotary_scheme.h"
#include "schemes/rotated/scaled_rows.h"

namespace sextant {
namespace {

template <class Alternative>
std::string_view name_in(const Alternative& alternative) {
  return std::visit(
      []<class T>(const T&) -> std::string_view {
        if constexpr (!std::is_same_v<T, std::monostate>) return T::name;
        return {};
      },
      alternative);
}

// Returns the name in errors: the scheme of the list that has these options.
std::string_view scheme_of(const Rotary& options) {
  const std::string_view scaling = name_in(options.scaling), axes = name_in(options.axes);
  return !scaling.empty() ? scaling : !axes.empty() ? axes : "rotary";
}

const AxialAxes* axial_of(const Rotary& options) { return std::get_if<AxialAxes>(&options.axes); }

// Returns the rotation for ids [rows, axes], 1: one id per row, and texts of this length.
Rotation rotation_of(const Rotary& options, std::int64_t axes, std::int64_t length) {
  Rotation rotation = rotation_from(scheme_of(options), options);
  check_fields(rotation.scheme, options.query_scale);
  if (options.query_scale.is_on()) {
    const bool log_n = options.query_scale.growth == QueryGrowth::log_n;
    const std::string where = rotation.where(log_n ? "growth" : "attn_scale");
    const std::string none = log_n ? "must be steps" : "must be 0";
    if (options.axes.index() != 0) throw Error(where, none + " where tokens have several ids");
    if (rotation.dim != options.head_dim) {
      throw Error(where, none + " unless all channels are rotated");
    }
  }
  const auto set = [&](Rotation& some) {
    set_frequencies(some);
    std::visit([&](const auto& scaling) { scale(some, scaling, length); }, options.scaling);
  };
  if (const AxialAxes* axial = axial_of(options)) {
    set_axes(rotation, *axial, axes, set);
    return rotation;
  }
  set(rotation);
  if (const auto* sections = std::get_if<SectionAxes>(&options.axes)) {
    set_axes(rotation, *sections, axes);
  } else if (axes != 1) {
    throw Error(rotation.where("positions"), "must be one id per row, got " + std::to_string(axes));
  }
  return rotation;
}

template <Floating T>
RotationTable<T> axial_table(const Rotary& options, const AxialAxes& axial,
                             View<const std::int64_t> ids) {
  const Tensor<std::int64_t> dense = copy_of(ids);
  Rotation rotation =
      rotation_of(options, ids.rank() == 2 ? ids.size(1) : 0, length_of(dense.span()));
  const Tensor<std::int64_t> coordinates = coordinates_of(rotation, axial, ids);
  return make_rotation_of_axes<T>(rotation, coordinates);
}

// The table of keys, and that of queries: each row times tau of its position.
template <Floating T>
RotationTable<T> with_query_scale(const Rotary& options, const Rotation& rotation,
                                  const kernels::Positions& positions, RotationTable<T> table) {
  if (!options.query_scale.is_on()) return table;
  const std::string where = rotation.where("positions");
  for (std::int64_t row = 0; row < positions.count; ++row) {
    check_range(IntegerRange{0, kLengths.max}, where, positions[row]);
  }
  const std::int64_t pairs = rotation.pairs();
  RotationTable<T> queries = table.template with<T>(Tensor<T>::uninitialized(table.cos.shape()),
                                                    Tensor<T>::uninitialized(table.sin.shape()));
  for_each_wide_row<T>(
      rotation, positions,
      [&](std::int64_t row, const double* sin, const double* cos, double* tau) {
        std::fill_n(tau, pairs,
                    query_scale_at(options.query_scale, positions[row], options.precision));
        scale_row(sin, tau, pairs, queries.sin.data() + row * pairs);
        scale_row(cos, tau, pairs, queries.cos.data() + row * pairs);
      });
  queries.keys = std::make_shared<RotationTable<T>>(std::move(table));
  return queries;
}

}  // namespace

template <Floating T>
RotationTable<T> rotary(const Rotary& options, std::int64_t length) {
  if (const AxialAxes* axial = axial_of(options)) {
    (void)rotation_of(options, 2, 0);
    const AxialCells cells = cells_of(*axial, length, nullptr);
    return axial_table<T>(options, cells.axial, cells.ids);
  }
  const Rotation rotation = rotation_of(options, 1, length);
  return with_query_scale(options, rotation, {0, length}, make_rotation<T>(rotation, length));
}

template <Floating T>
RotationTable<T> rotary(const Rotary& options, std::span<const std::int64_t> positions) {
  const auto count = static_cast<std::int64_t>(positions.size());
  if (const AxialAxes* axial = axial_of(options)) {
    (void)rotation_of(options, 2, 0);
    const AxialCells cells = cells_of(*axial, count, positions.data());
    return axial_table<T>(options, cells.axial, cells.ids);
  }
  const Rotation rotation = rotation_of(options, 1, length_of(positions));
  return with_query_scale(options, rotation, {0, count, positions.data()},
                          make_rotation<T>(rotation, positions));
}

template <Floating T>
RotationTable<T> rotary(const Rotary& options, View<const std::int64_t> ids) {
  if (const AxialAxes* axial = axial_of(options)) return axial_table<T>(options, *axial, ids);
  const Tensor<std::int64_t> dense = copy_of(ids);
  const Rotation rotation =
      rotation_of(options, ids.rank() == 2 ? ids.size(1) : 0, length_of(dense.span()));
  if (rotation.axes == 1) return rotary<T>(options, dense.span());
  return make_rotation_of_axes<T>(rotation, ids);
}

template <Floating T>
RotationTable<T> rotary(const Rotary& options, View<const double> times) {
  const std::string where = std::string(scheme_of(options)) + ".positions";
  if (axial_of(options) != nullptr || options.query_scale.is_on()) {
    throw Error(where, "must be whole numbers with axial axes and with a query scale");
  }
  if (times.rank() != 1 && times.rank() != 2) {
    throw Error(where, "must be [rows] or [rows, axes], got " + times.shape().to_string());
  }
  const Tensor<double> dense = copy_of(times);
  check_coordinates(dense.span(), where);
  const std::int64_t axes = times.rank() == 1 ? 1 : times.size(1);
  return make_rotation_of_times<T>(rotation_of(options, axes, length_of(dense.span())),
                                   dense.view());
}

template <Floating T>
void rotary_into(RotationTable<T>& table, const Rotary& options) {
  if (axial_of(options) != nullptr || options.query_scale.is_on()) {
    throw Error("rotary_into.options", "must be without axial axes and without a query scale");
  }
  const std::int64_t length = table.cos.rank() == 2 ? table.cos.size(0) : 0;
  const Rotation rotation = rotation_of(options, 1, length);
  if (table.cos.rank() != 2 || table.cos.shape() != table.sin.shape() ||
      table.cos.size(1) != rotation.pairs()) {
    throw Error("rotary_into.table", "must hold cos and sin of one shape [positions, " +
                                         std::to_string(rotation.pairs()) + "], got " +
                                         table.cos.shape().to_string() + " and " +
                                         table.sin.shape().to_string());
  }
  make_rotation_into(rotation, table);
}

#define SEXTANT_INSTANTIATE(T)                                                    \
  template RotationTable<T> rotary(const Rotary&, std::int64_t);                  \
  template RotationTable<T> rotary(const Rotary&, std::span<const std::int64_t>); \
  template RotationTable<T> rotary(const Rotary&, View<const std::int64_t>);      \
  template RotationTable<T> rotary(const Rotary&, View<const double>);            \
  template void rotary_into(RotationTable<T>&, const Rotary&);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

RotationFrequencies rotation_frequencies(const Rotary& options, std::int64_t length,
                                         std::int64_t axes) {
  const std::int64_t one = axial_of(options) != nullptr ? 2 : 1;
  return frequencies_of(rotation_of(options, axes == 0 ? one : axes, length));
}

std::vector<std::int32_t> rotary_pair_axes(const Rotary& options, std::int64_t axes) {
  const std::int64_t one = axial_of(options) != nullptr ? 2 : 1;
  return rotation_of(options, axes == 0 ? one : axes, 0).axis_of_pair;
}

std::string_view name_of(RotarySpan span) noexcept { return enum_name(span, {"first", "last"}); }

constinit const Scheme descriptors::kRotary = rotary_scheme<kRotary, std::monostate>(
    "rotary", "rotary",
    "Rotates pairs of channels of q and k by position times frequency; scores depend on distances "
    "only.",
    "Su et al. 2021, 2104.09864");

}  // namespace sextant
