// Reads the options of a call of the operator from Python by name, and keeps the borrowed data.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "arrays.h"
#include "schemes/function_term.h"
#include "schemes/tables.h"
#include "sextant/attention/attention.h"

namespace sextant::python {

// Returns the axes of `q` in memory, by its rank and "bhld" or "blhd"; no layout is the first.
HeadAxes axes_of(const InputArray& q, nb::handle layout);
nb::handle layout_in(const nb::dict& options);  // null: not given

// q, k and v of one type and with the same axes, viewed as [batch, heads, length, head_dim]. v may
// be absent.
struct Inputs {
  Inputs(std::string_view function, const nb::dict& options, nb::handle q, nb::handle k,
         nb::handle v = {});

  InputArray q, k, v;
  HeadAxes axes;
};

// The result, or with its log-sum-exp as a tuple.
nb::object finished(OutputArray&& result, std::optional<OutputArray>&& sums, bool both);

// The meaning of causal=True: for a call in which all alignments agree, or for a cache, whose
// queries are the last positions.
struct CausalFlag {
  std::int64_t q_len = 0, k_len = 0;
  bool is_cache = false;
};

// Reads AttentionOptions from a dict; throws TypeError for an unknown name. Keeps the data of the
// options: lists that other threads empty during the call, and ids that they write to, have no
// effect.
template <class T>
class CallOptions {
 public:
  CallOptions(std::string_view function, const nb::dict& given, const CausalFlag& causal);
  CallOptions(std::string_view function, const nb::dict& given, const Inputs& in)
      : CallOptions(function, given, CausalFlag{in.q.shape()[2], in.k.shape()[2]}) {}
  CallOptions(const CallOptions&) = delete;
  CallOptions& operator=(const CallOptions&) = delete;

  AttentionOptions<T> options;

  // After the call, with the interpreter's lock: raises the exception of a bias's or mask's
  // function.
  void raise() const {
    for (const auto& term : functions_) term->raise();
  }

 private:
  using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

  void set(const Argument& argument);
  void set_causal(bool is_causal, const Argument& argument, const CausalFlag& flag);
  void set_window(const Argument& argument);
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
  std::vector<nb::object> kept_;                          // tables and terms
  std::vector<std::unique_ptr<FunctionTerm>> functions_;  // of this call
};

}  // namespace sextant::python
