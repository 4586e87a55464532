// Cases in the form of ONNX's, made up: inputs of random numbers, outputs by the float64 oracle.
// They ask for combinations that ONNX's own cases do not have.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "sextant/core/dtype.h"
#include "sextant/core/tensor.h"

namespace sextant::onnx {

// A folder that grows to a case. Arrays are rounded to their type when they are written; what is
// given back is what a reader will find.
class WrittenCase {
 public:
  WrittenCase(const std::string& folder, const std::string& op);

  Tensor<double> input(std::size_t position, const std::string& name, DType type,
                       Tensor<double> values);
  Tensor<double> output(std::size_t position, const std::string& name, DType type,
                        Tensor<double> values);
  void write() const;  // case.json, as it stands

  // Changes case.json of a case that was written.
  static void edit(const std::string& folder, const std::function<void(Json&)>& change);

  Json about;

 private:
  Tensor<double> add(const char* list, std::size_t position, const std::string& name, DType type,
                     Tensor<double> values);
  std::string folder_;
};

struct AttentionCase {
  std::int64_t batch = 2, heads_q = 2, kv_heads = 2, q_len = 3, k_len = 5, head_dim = 4, v_dim = 4;
  std::int64_t past = 0;
  DType type = DType::float32;
  std::optional<DType> v_type{};  // that of v and past_value, when it is another
  bool rank3 = false;
  std::vector<std::int64_t> mask{};  // its shape; empty: none
  bool bool_mask = false;
  std::vector<std::int64_t> key_lengths{};
  Json attributes = Json::object();  // all but the numbers of heads
  bool presents = false;             // both present outputs
  bool scores = false;               // qk_matmul_output
  // ONNX's, but for bfloat16 one unit in the last place.
  double rtol = type == DType::bfloat16 ? 0x1p-7 : type == DType::float64 ? 1e-12 : 1e-3;
};

// Writes it and returns the folder.
std::string write_attention(const std::string& folder, const AttentionCase& wanted);

struct RotaryCase {
  std::int64_t batch = 2, heads = 3, length = 4, head_dim = 6, rotary_dim = 0;
  bool interleaved = false, rank3 = false, positions = true;
  DType type = DType::float32;
};

std::string write_rotary(const std::string& folder, const RotaryCase& wanted);

}  // namespace sextant::onnx
