#include "attention/call/input_arrays.h"

namespace sextant::attention_detail {
namespace {

void add_rotation(CallArrays& arrays, const RotationTable<float>& table) {
  arrays.add_input("rotation", table.cos);
  arrays.add_input("rotation", table.sin);
  if (table.keys) add_rotation(arrays, *table.keys);
}

}  // namespace

template <class M>
CallArrays input_arrays(std::string_view function, const AnyView& q, const AnyView& k,
                        const AnyView& v, const AttentionOptionsOf<M>& options) {
  CallArrays arrays(function);
  arrays.add_input("q", q);
  arrays.add_input("k", k);
  arrays.add_input("v", v);
  if (const auto* bool_mask = std::get_if<BoolMask>(&options.mask)) {
    arrays.add_input("mask", *bool_mask);
  } else if (const auto* float_mask = std::get_if<View<const M>>(&options.mask)) {
    arrays.add_input("mask", *float_mask);
  }
  arrays.add_input("query_positions", options.query_positions);
  arrays.add_input("key_positions", options.key_positions);
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

template CallArrays input_arrays(std::string_view, const AnyView&, const AnyView&, const AnyView&,
                                 const AttentionOptionsOf<float>&);
template CallArrays input_arrays(std::string_view, const AnyView&, const AnyView&, const AnyView&,
                                 const AttentionOptionsOf<double>&);

}  // namespace sextant::attention_detail
