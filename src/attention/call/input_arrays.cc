#include "attention/call/input_arrays.h"

#include "core/arrays/each_dtype.h"

namespace sextant::attention_detail {
namespace {

void add_rotation(CallArrays& arrays, const RotationTable<float>& table) {
  arrays.add_input("rotation", table.cos);
  arrays.add_input("rotation", table.sin);
  if (table.keys) add_rotation(arrays, *table.keys);
}

}  // namespace

template <class T>
CallArrays input_arrays(std::string_view function, View<const T> q, View<const T> k,
                        View<const T> v, const AttentionOptions<T>& options) {
  CallArrays arrays(function);
  arrays.add_input("q", q);
  arrays.add_input("k", k);
  arrays.add_input("v", v);
  if (const auto* bool_mask = std::get_if<BoolMask>(&options.mask)) {
    arrays.add_input("mask", *bool_mask);
  } else if (const auto* float_mask = std::get_if<FloatMask<T>>(&options.mask)) {
    arrays.add_input("mask", *float_mask);
  }
  arrays.add_input<const std::int64_t>("query_positions", options.query_positions);
  arrays.add_input<const std::int64_t>("key_positions", options.key_positions);
  arrays.add_input("query_offsets", options.query_offsets);
  arrays.add_input("key_lengths", options.key_lengths);
  arrays.add_input("segments", options.segments);
  arrays.add_input("key_segments", options.key_segments);
  arrays.add_input("sinks", options.sinks);
  if (options.bias != nullptr) {
    arrays.add_input("bias", options.bias->values);
    arrays.add_input("bias", std::span<const double>(options.bias->slopes));
  }
  if (options.rotation != nullptr) add_rotation(arrays, *options.rotation);
  return arrays;
}

#define SEXTANT_INSTANTIATE(T)                                                                    \
  template CallArrays input_arrays(std::string_view, View<const T>, View<const T>, View<const T>, \
                                   const AttentionOptions<T>&);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::attention_detail
