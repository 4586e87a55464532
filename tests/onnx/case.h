// One case of ONNX's operator tests as a folder: case.json says what goes in and what must come
// out, one .npy file per array. The format is described where the cases lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/json/json.h"
#include "sextant/core/dtype.h"
#include "sextant/core/npy.h"
#include "sextant/core/tensor.h"

namespace sextant::onnx {

// What a case came to.
struct Verdict {
  double largest_error = 0;  // |got - expected|, the largest of all outputs compared
  std::string reason;        // what is wrong with the first output that differs; empty: passed

  bool passed() const noexcept { return reason.empty(); }
};

// How an output is compared: within the case's tolerance, or as a copy that has no error at all.
enum class Compare { within_tolerance, exactly };

// A description that was read and makes sense; arrays are read when asked for. Everything throws
// Error for what does not fit the format.
class Case {
 public:
  explicit Case(const std::string& folder);

  const std::string& op() const noexcept { return op_; }

  // Throws unless the case has exactly this many positions and no attribute but these.
  void expect(std::size_t inputs, std::size_t outputs,
              std::span<const std::string_view> attributes) const;

  bool has_attribute(std::string_view name) const;
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  // Attributes that are numbers are float32 in ONNX.
  std::optional<double> number(std::string_view name) const;

  bool has_input(std::size_t position) const;
  DType input_type(std::size_t position) const;
  Array input(std::size_t position) const;  // of the dtype and shape that the description says
  bool has_output(std::size_t position) const;

  // Rounds `got` to `dtype` once and compares it with the output at `position`, which must have
  // that type: an element passes when |got - expected| <= atol + rtol |expected|, an infinity or
  // NaN when both are it.
  template <class T>
  void compare(std::size_t position, DType dtype, View<const T> got, Compare how,
               Verdict& verdict) const;

 private:
  Array load(const char* list, std::size_t position) const;

  std::string folder_, op_;
  Json about_;
  double rtol_ = 0, atol_ = 0;
};

// The case at the operator of the library. Throws Error, or what reading JSON and memory throw.
Verdict run_attention(const Case& c);
Verdict run_rotary(const Case& c);
// The same for a folder, whatever it holds: what goes wrong is the reason of a failure.
Verdict run_case(const std::string& folder);

// [batch, heads, length, dim] of an array in that order or as [batch, length, heads * dim], whose
// number of heads is the attribute `attribute`; `where` is for messages.
template <class T>
View<const T> by_heads(const Case& c, const Tensor<T>& x, std::string_view attribute,
                       std::string_view where);
// Back again: [batch, heads, length, dim] in an array of the rank that the input had.
template <class T>
Tensor<T> in_rank(int rank, Tensor<T> x);

}  // namespace sextant::onnx
