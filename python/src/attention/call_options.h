// The options of a call of the operator, as Python gives them by name, and what they borrow.
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>
#include <vector>

#include "arrays.h"
#include "schemes/tables.h"
#include "sextant/attention/attention.h"

namespace sextant::python {

// q, k and v, [batch, heads, length, head_dim], of one type. v may be absent.
struct Inputs {
  Inputs(std::string_view function, nb::handle q, nb::handle k, nb::handle v = {});

  InputArray q, k, v;
};

// AttentionOptions from a dict: TypeError for a name that is none of them. Keeps what the options
// refer to: lists that other threads may empty during the call do not matter, nor ids that they
// write to.
template <class T>
class CallOptions {
 public:
  CallOptions(std::string_view function, const nb::dict& given);
  CallOptions(const CallOptions&) = delete;
  CallOptions& operator=(const CallOptions&) = delete;

  AttentionOptions<T> options;

 private:
  using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

  void set(const Argument& argument);
  void set_mask(const Argument& argument);
  void set_positions(const Argument& argument);
  void set_bias(const Argument& argument);
  void add_bias(const Argument& argument);  // one of a list
  View<const std::int64_t> ids_of(const Argument& argument);

  std::vector<std::int64_t> query_offsets_, key_lengths_, segments_, key_segments_;
  std::vector<double> sinks_, slopes_;
  InputArray mask_;
  Tensor<Wide> converted_mask_;
  std::vector<Tensor<std::int64_t>> ids_;
  DistanceBias bias_;
  std::vector<nb::object> kept_;  // tables and terms
};

}  // namespace sextant::python
