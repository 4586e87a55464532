// Files and options of `sextant attention` as arguments of the operator.
#pragma once

#include <memory>
#include <type_traits>
#include <vector>

#include "attention/attention_command.h"
#include "attention/attention_scheme.h"

namespace sextant::app {

// Views of the arrays and the options of a call. The options borrow from here, and the views from
// the arrays, so it stays where it was made.
template <Floating T>
class AttentionOperands {
 public:
  using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

  // Throws Error that names the option when sizes do not fit together, for all that the operator
  // and its gradients ask.
  AttentionOperands(const AttentionCommand& command, const AttentionArrays& arrays);
  AttentionOperands(const AttentionOperands&) = delete;
  AttentionOperands& operator=(const AttentionOperands&) = delete;

  View<const T> q, k, v;
  View<const T> dout;  // no elements: not given
  AttentionOptions<T> options;

  Shape output_shape() const { return {q.size(0), q.size(1), q.size(2), v.size(3)}; }
  Shape row_shape() const { return {q.size(0), q.size(1), q.size(2)}; }
  const Shape& bias_shape() const { return bias_.values.shape(); }
  const Shape& mask_shape() const { return mask_shape_; }
  AttentionScheme* scheme() const { return scheme_.get(); }  // null: none

 private:
  void take_mask(const Array& array);
  void take_bias(const Array& array);
  void take_ids(const AttentionArrays& arrays);
  void align(const AttentionCommand& command, const AttentionArrays& arrays);
  // Returns the number of ids from 0 on of queries and keys; `forward` refuses queries before 0.
  std::int64_t positions(const char* where, bool forward) const;
  void rotate(const AttentionCommand& command);

  Tensor<Wide> mask_;
  Shape mask_shape_;
  DistanceBias bias_;
  Tensor<std::int64_t> query_ids_, key_ids_;
  std::vector<std::int64_t> segments_, key_segments_, key_lengths_, offsets_;
  std::vector<double> sinks_;
  RotationTable<float> rotation_;
  std::unique_ptr<AttentionScheme> scheme_;
};

}  // namespace sextant::app
