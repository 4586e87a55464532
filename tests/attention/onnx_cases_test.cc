// ONNX's own conformance cases for Attention and RotaryEmbedding, read from
// ../shared/conformance/onnx. What our functions do not take as an argument (a cache to append to,
// heads inside the last axis, float16, masks that are too short, tables per sequence) is composed
// here; one line per case that fails.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "attention/strided.h"
#include "sextant/attention/attention.h"
#include "sextant/core/files.h"
#include "sextant/core/npy.h"
#include "sextant/schemes/rotary.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// One case: its description and its arrays by position.
struct Case {
  fs::path folder;
  json about;

  bool has(const char* list, std::size_t n) const { return !about[list][n].is_null(); }
  Array load(const char* list, std::size_t n) const {
    return load_npy((folder / about[list][n]["file"].get<std::string>()).string());
  }
  double number(const char* name, double otherwise) const {
    const auto& attributes = about["attributes"];
    return attributes.contains(name) ? attributes[name].get<double>() : otherwise;
  }
  std::int64_t integer(const char* name, std::int64_t otherwise) const {
    return static_cast<std::int64_t>(number(name, static_cast<double>(otherwise)));
  }
};

// [batch, heads, length, dim], also from [batch, length, heads * dim].
View<const float> by_heads(const Tensor<float>& x, std::int64_t heads) {
  return x.rank() == 4 ? x.view() : x.view().split(2, heads).transpose(1, 2);
}

// past, then x, along the length axis: what present_key and present_value hold.
Tensor<float> concatenate(View<const float> past, View<const float> x) {
  Tensor<float> both(Shape{x.size(0), x.size(1), past.size(2) + x.size(2), x.size(3)});
  each_index(both.shape(), [&](const auto& at, std::int64_t n) {
    const bool old = at[2] < past.size(2);
    both.data()[n] =
        old ? past(at[0], at[1], at[2], at[3]) : x(at[0], at[1], at[2] - past.size(2), at[3]);
  });
  return both;
}

// A mask with a last axis of k_len: keys that it lacks are excluded.
template <class M>
Tensor<M> lengthened(const Tensor<M>& mask, std::int64_t k_len, M excluded) {
  if (mask.size(mask.rank() - 1) == k_len || mask.size(mask.rank() - 1) == 1) return mask.clone();
  std::vector<std::int64_t> sizes(mask.shape().begin(), mask.shape().end());
  const std::int64_t old = std::exchange(sizes.back(), k_len);
  Tensor<M> longer{Shape(sizes)};
  for (std::int64_t n = 0; n < longer.count(); ++n) {
    const std::int64_t j = n % k_len;
    longer.data()[n] = j < old ? mask.data()[n / k_len * old + j] : excluded;
  }
  return longer;
}

// What ONNX compares by; a float16 result is rounded to it first.
std::string difference(const Case& c, std::size_t output, const Tensor<float>& got) {
  const auto expected = c.load("outputs", output);
  const bool half = expected.dtype == DType::float16;
  const auto want = expected.to<float>();
  const double rtol = c.about["tolerance"]["rtol"], atol = c.about["tolerance"]["atol"];
  const auto name = c.about["outputs"][output]["name"].get<std::string>();
  if (!(got.shape() == want.shape())) {
    return name + " has shape " + got.shape().to_string() + ", not " + want.shape().to_string();
  }
  for (std::int64_t n = 0; n < got.count(); ++n) {
    const double w = want.data()[n],
                 g = half ? static_cast<double>(float16(got.data()[n])) : got.data()[n];
    if (std::isinf(w) ? g != w : !(std::abs(g - w) <= atol + rtol * std::abs(w))) {
      return name + " element " + std::to_string(n) + " is " + std::to_string(g) + ", not " +
             std::to_string(w);
    }
  }
  return "";
}

// [batch, heads, length, dim] back to what a rank 3 case wants.
Tensor<float> in_layout_of(const Tensor<float>& input, Tensor<float> x) {
  if (input.rank() == 4) return x;
  const auto rows = copy_of(x.view().transpose(1, 2));
  Tensor<float> joined(Shape{rows.size(0), rows.size(1), rows.size(2) * rows.size(3)});
  std::copy_n(rows.data(), rows.count(), joined.data());
  return joined;
}

// Empty when all outputs agree.
std::string run_attention(const Case& c) {
  const auto q_file = c.load("inputs", 0).to<float>(), k_file = c.load("inputs", 1).to<float>(),
             v_file = c.load("inputs", 2).to<float>();
  const std::int64_t heads_q = c.integer("q_num_heads", q_file.size(1));
  const std::int64_t heads_k = c.integer("kv_num_heads", k_file.size(1));
  const auto q = by_heads(q_file, heads_q);
  auto k = by_heads(k_file, heads_k), v = by_heads(v_file, heads_k);

  Tensor<float> present_k, present_v;
  const bool has_past = c.has("inputs", 4);
  std::int64_t past = 0;
  if (has_past) {
    past = c.load("inputs", 4).shape[2];
    present_k = concatenate(c.load("inputs", 4).to<float>(), k);
    present_v = concatenate(c.load("inputs", 5).to<float>(), v);
    k = present_k;
    v = present_v;
  }

  AttentionOptions<float> options;
  const auto batch = static_cast<std::size_t>(q.size(0));
  std::vector<std::int64_t> key_lengths, offsets(batch, past);
  if (c.has("inputs", 6)) {
    const auto lengths = c.load("inputs", 6).to<std::int64_t>();
    for (std::size_t b = 0; b < batch; ++b) {
      key_lengths.push_back(lengths.data()[b]);
      offsets[b] = has_past ? past : key_lengths[b] - q.size(2);
    }
    options.key_lengths = key_lengths;
  }
  options.query_offsets = offsets;
  options.causal = c.integer("is_causal", 0) != 0 ? Causal::at_offsets : Causal::none;
  options.window = {c.integer("left_window_size", -1), c.integer("right_window_size", -1)};
  // Attributes are float32.
  options.softcap = static_cast<double>(static_cast<float>(c.number("softcap", 0)));
  const double scale = c.number("scale", 0);
  if (scale != 0) options.scale = static_cast<double>(static_cast<float>(scale));

  Tensor<bool> bool_mask;
  Tensor<float> float_mask;
  if (c.has("inputs", 3)) {
    const auto mask = c.load("inputs", 3);
    if (mask.dtype == DType::boolean) {
      bool_mask = lengthened(mask.to<bool>(), k.size(2), false);
      options.mask = bool_mask;
    } else {
      float_mask = lengthened(mask.to<float>(), k.size(2), -std::numeric_limits<float>::infinity());
      options.mask = float_mask;
    }
  }

  // Y, in the layout of Q.
  Tensor<float> out(Shape{q.size(0), heads_q, q.size(2), v.size(3)});
  attention(q, k, v, out, options);
  std::string wrong = difference(c, 0, in_layout_of(q_file, std::move(out)));
  if (c.has("outputs", 1)) wrong += difference(c, 1, present_k);
  if (c.has("outputs", 2)) wrong += difference(c, 2, present_v);
  if (c.has("outputs", 3)) {
    const auto stage = static_cast<Stage>(c.integer("qk_matmul_output_mode", 0));
    wrong += difference(c, 3, attention_weights<float>(q, k, options, {.stage = stage}));
  }
  return wrong;
}

std::string run_rotary(const Case& c) {
  const auto input = c.load("inputs", 0).to<float>();
  const auto x = by_heads(input, c.integer("num_heads", input.size(1)));
  auto cosines = c.load("inputs", 1).to<float>(), sines = c.load("inputs", 2).to<float>();
  const bool by_position = c.has("inputs", 3);
  const auto positions =
      by_position ? c.load("inputs", 3).to<std::int64_t>() : Tensor<std::int64_t>();
  const std::int64_t length = x.size(2), pairs = cosines.size(cosines.rank() - 1);
  Tensor<float> out(x.shape());
  for (std::int64_t b = 0; b < x.size(0); ++b) {
    RotationTable<float> table{Tensor<float>(Shape{length, pairs}),
                               Tensor<float>(Shape{length, pairs})};
    table.layout =
        c.integer("interleaved", 0) != 0 ? RotaryLayout::interleaved : RotaryLayout::half_split;
    for (std::int64_t s = 0; s < length; ++s) {
      const std::int64_t row = by_position ? positions(b, s) : b * length + s;
      std::copy_n(cosines.data() + row * pairs, pairs, table.cos.data() + s * pairs);
      std::copy_n(sines.data() + row * pairs, pairs, table.sin.data() + s * pairs);
    }
    rotate<float>(x.narrow(0, b, 1), out.view().narrow(0, b, 1), table);
  }
  return difference(c, 0, in_layout_of(input, std::move(out)));
}

TEST(OnnxConformance, EveryCasePasses) {
  const fs::path folder = fs::path(SEXTANT_SHARED) / "conformance" / "onnx";
  if (!fs::is_directory(folder)) {
    ASSERT_EQ(std::getenv("CI"), nullptr) << "conformance vectors are missing: " << folder;
    GTEST_SKIP() << "no conformance vectors at " << folder;
  }
  int passed = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!entry.is_directory()) continue;
    const Case c{entry.path(), json::parse(read_file((entry.path() / "case.json").string()))};
    SCOPED_TRACE(c.about["name"].get<std::string>());
    const bool attends = c.about["op"] == "Attention";
    ASSERT_TRUE(attends || c.about["op"] == "RotaryEmbedding") << c.about["op"];
    const std::string wrong = attends ? run_attention(c) : run_rotary(c);
    EXPECT_EQ(wrong, "");
    if (wrong.empty()) ++passed;
  }
  EXPECT_EQ(passed, 57);
}

}  // namespace
}  // namespace sextant
