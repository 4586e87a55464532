// ONNX's RotaryEmbedding (opset 23) composed of rotate(): each sequence gets a table with the rows
// that its position ids, or its place in the batch, choose from the caches.
#include <algorithm>
#include <array>
#include <cstdint>

#include "onnx/case.h"
#include "sextant/schemes/rotated/rotary.h"

namespace sextant::onnx {
namespace {

enum Input : std::size_t { kX, kCos, kSin, kPositions, kInputs };
constexpr std::array<std::string_view, 3> kAttributes = {"interleaved", "num_heads",
                                                         "rotary_embedding_dim"};

void check_shape(const char* name, const Shape& shape, const Shape& wanted) {
  if (!(shape == wanted)) {
    throw Error(name, "must be " + wanted.to_string() + ", got " + shape.to_string());
  }
}

// The rows of the caches that turn x [batch, heads, length, head_dim]: row b * length + s of the
// result belongs to position s of sequence b.
std::vector<std::int64_t> cache_rows(const Case& c, const Shape& x, const Shape& cache,
                                     std::int64_t pairs) {
  const std::int64_t batch = x[0], length = x[2];
  std::vector<std::int64_t> rows(static_cast<std::size_t>(batch * length));
  if (!c.has_input(kPositions)) {
    check_shape("cos_cache", cache, Shape{batch, length, pairs});
    for (std::size_t n = 0; n < rows.size(); ++n) rows[n] = static_cast<std::int64_t>(n);
    return rows;
  }
  const auto positions = c.input(kPositions).to<std::int64_t>();
  check_shape("position_ids", positions.shape(), Shape{batch, length});
  if (cache.rank() != 2 || cache[1] != pairs) {
    throw Error("cos_cache",
                "must be [positions, " + std::to_string(pairs) + "], got " + cache.to_string());
  }
  std::copy_n(positions.data(), positions.count(), rows.begin());
  for (const std::int64_t row : rows) {
    if (row < 0 || row >= cache[0]) {
      throw Error("position_ids",
                  "must be below " + std::to_string(cache[0]) + ", got " + std::to_string(row));
    }
  }
  return rows;
}

template <class T>
Verdict run(const Case& c) {
  const auto input = c.input(kX).to<T>();
  const auto x = by_heads(c, input, "num_heads", "input");
  const std::int64_t asked = c.integer("rotary_embedding_dim", 0);
  const std::int64_t turned = asked == 0 ? x.size(3) : asked;
  if (turned < 0 || turned > x.size(3) || turned % 2 != 0) {
    throw Error("rotary_embedding_dim", "must be even and at most " + std::to_string(x.size(3)) +
                                            ", got " + std::to_string(turned));
  }
  const std::int64_t batch = x.size(0), length = x.size(2), pairs = turned / 2;
  const auto cosines = c.input(kCos).to<T>(), sines = c.input(kSin).to<T>();
  check_shape("sin_cache", sines.shape(), cosines.shape());
  const auto rows = cache_rows(c, x.shape(), cosines.shape(), pairs);

  Tensor<T> out(x.shape());
  for (std::int64_t b = 0; b < batch; ++b) {
    RotationTable<T> table{Tensor<T>(Shape{length, pairs}), Tensor<T>(Shape{length, pairs})};
    table.layout =
        c.integer("interleaved", 0) != 0 ? RotaryLayout::interleaved : RotaryLayout::half_split;
    for (std::int64_t s = 0; s < length; ++s) {
      const std::int64_t row = rows[static_cast<std::size_t>(b * length + s)];
      std::copy_n(cosines.data() + row * pairs, pairs, table.cos.data() + s * pairs);
      std::copy_n(sines.data() + row * pairs, pairs, table.sin.data() + s * pairs);
    }
    rotate<T>(x.narrow(0, b, 1), out.view().narrow(0, b, 1), table);
  }
  Verdict verdict;
  const auto joined = in_rank(input.rank(), std::move(out));
  c.compare<T>(0, c.input_type(kX), joined, Compare::within_tolerance, verdict);
  return verdict;
}

}  // namespace

Verdict run_rotary(const Case& c) {
  c.expect(kInputs, 1, kAttributes);
  const DType type = c.input_type(kX);
  const bool same = c.input_type(kCos) == type && c.input_type(kSin) == type;
  if (same && type == DType::float32) return run<float>(c);
  if (same && type == DType::float16) return run<float16>(c);
  if (same && type == DType::bfloat16) return run<bfloat16>(c);
  return run<double>(c);
}

}  // namespace sextant::onnx
