// Token embeddings: look-up, scale, positions and the padding mask.
#include "sextant/layers/embedding.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>

#include "core/options/fields.h"
#include "core/threads/useful_threads.h"
#include "kernels/layers/embed_rows.h"
#include "kernels/simd/stored_rows.h"
#include "sextant/core/error.h"
#include "sextant/core/parallel.h"

namespace sextant {
namespace {

void check_tokens(std::int64_t index, std::int64_t tokens, const char* where) {
  if (index < 0 || index >= tokens) {
    throw Error(where,
                "must be in 0 .. " + std::to_string(tokens - 1) + ", got " + std::to_string(index));
  }
}

void check_batch(View<const std::int64_t> indices, const char* where) {
  if (indices.rank() != 2) {
    throw Error(where, "must be [batch, length], got " + indices.shape().to_string());
  }
}

// Large enough for a thread to be worth waking.
constexpr std::int64_t kTaskBytes = std::int64_t{512} << 10;
// Larger results leave the caches before they are read.
constexpr std::int64_t kStreamBytes = std::int64_t{16} << 20;

// The rows of the two tables that each token adds, [batch * length], all of which exist.
struct LookedUp {
  Tensor<std::int64_t> tokens;
  Tensor<std::int64_t> positions;
};

LookedUp rows_of(View<const std::int64_t> indices, std::int64_t tokens, std::int64_t positions,
                 const EmbedOptions& options) {
  check_range(kThreads, "embed_with_positions.threads", options.threads);
  if (options.offset < 0) {
    throw Error("embed_with_positions.offset",
                "must not be negative, got " + std::to_string(options.offset));
  }
  if (options.scale && !std::isfinite(*options.scale)) {
    throw Error("embed_with_positions.scale", "must be finite, got " + shortest(*options.scale));
  }
  const std::int64_t length = indices.size(1);
  LookedUp rows{copy_of(indices), {}};
  if (options.position_ids) {
    if (options.position_ids->shape() != indices.shape()) {
      throw Error("embed_with_positions.position_ids",
                  "must have the shape of indices, " + indices.shape().to_string() + ", got " +
                      options.position_ids->shape().to_string());
    }
    rows.positions = copy_of(*options.position_ids);
  } else {
    rows.positions = Tensor<std::int64_t>::uninitialized(indices.shape());
    for (std::int64_t i = 0; i < rows.positions.count(); ++i) {
      rows.positions.data()[i] = i % length;
    }
  }
  for (const std::int64_t index : rows.tokens.span()) {
    check_tokens(index, tokens, "embed_with_positions.indices");
  }
  for (std::int64_t& position : rows.positions.span()) {
    if (position < 0 || options.offset >= positions || position >= positions - options.offset) {
      throw Error("embed_with_positions.positions",
                  "must have a row for every position, got " + std::to_string(positions) +
                      " rows for position " + std::to_string(position) +
                      (options.offset > 0 ? " + " + std::to_string(options.offset) : ""));
    }
    position += options.offset;
  }
  return rows;
}

// Token rows times `scale` plus position rows.
template <class T>
struct Sum {
  const T* tokens;
  const T* positions;
  std::int64_t position_stride;
  std::int64_t width;
  double scale;

  void into(T* out, const std::int64_t* token_rows, const std::int64_t* position_rows,
            std::int64_t count, bool stream) const {
    if constexpr (std::is_same_v<T, float>) {
      kernels::embed_rows({tokens, positions, position_stride, width, scale}, token_rows,
                          position_rows, count, out, stream);
    } else {
      for (std::int64_t row = 0; row < count; ++row) {
        const T* token = tokens + token_rows[row] * width;
        const T* position = positions + position_rows[row] * position_stride;
        for (std::int64_t i = 0; i < width; ++i) *out++ = token[i] * scale + position[i];
      }
    }
  }
};

}  // namespace

template <class T>
Embedding<T>::Embedding(WeightMatrix<T> table, std::optional<std::int64_t> padding)
    : table_(std::move(table)), padding_(padding) {
  if (table_.rank() != 2 || table_.count() == 0) {
    throw Error("embedding.table",
                "must be [tokens, width] with at least one token and one column, got " +
                    table_.shape().to_string());
  }
  if (padding_) {
    check_tokens(*padding_, tokens(), "embedding.padding");
    std::fill_n(table_.data() + *padding_ * width(), width(), T{});
  }
}

template <class T>
Embedding<T> Embedding<T>::random(std::int64_t tokens, std::int64_t width, FirstWeights weights,
                                  std::optional<std::int64_t> padding) {
  if (tokens < 1) {
    throw Error("embedding.tokens", "must be at least 1, got " + std::to_string(tokens));
  }
  if (width < 1) {
    throw Error("embedding.width", "must be at least 1, got " + std::to_string(width));
  }
  const double deviation = 1 / std::sqrt(static_cast<double>(width));
  return Embedding(
      weights.matrix<T>({tokens, width},
                        [deviation](NumpyRandom& random) { return random.normal() * deviation; }),
      padding);
}

template <class T>
Tensor<T> Embedding<T>::operator()(std::span<const std::int64_t> indices, double scale) const {
  const auto length = static_cast<std::int64_t>(indices.size());
  auto out = Tensor<T>::uninitialized({length, width()});
  T* row = out.data();
  for (const std::int64_t index : indices) {
    check_tokens(index, tokens(), "embedding.indices");
    const T* source = table_.data() + index * width();
    for (std::int64_t column = 0; column < width(); ++column) {
      *row++ = static_cast<T>(static_cast<double>(source[column]) * scale);
    }
  }
  return out;
}

template <class T>
Tensor<T> Embedding<T>::operator()(View<const std::int64_t> indices, double scale) const {
  check_batch(indices, "embedding.indices");
  const Tensor<std::int64_t> packed = copy_of(indices);
  const Tensor<T> rows = (*this)(packed.span(), scale);
  return copy_of(View<const T>(rows.data(), Shape{indices.size(0), indices.size(1), width()}));
}

// Each thread adds to its own columns, a multiple of this number, so that no two threads write to
// one row; rows of the table are at any place, and prefetched this number of tokens early.
constexpr std::int64_t kColumns = 64;
constexpr std::size_t kTokensAhead = 4;

template <class T>
void Embedding<T>::forward(std::span<const std::int64_t> indices, double scale, View<T> y,
                           const Pass& pass) const {
  const T factor = static_cast<T>(scale);
  constexpr std::int64_t kRows = 64;
  const auto length = static_cast<std::int64_t>(indices.size());
  parallel_for((length + kRows - 1) / kRows, pass.threads, [&](std::int64_t task) {
    for (std::int64_t i = task * kRows; i < std::min(length, (task + 1) * kRows); ++i) {
      const std::int64_t place = indices[static_cast<std::size_t>(i)] * width();
      T* to = y.data() + i * width();
      table_.with_tensor([&](const auto& table) {
        const auto* from = table.data() + place;
        for (std::int64_t column = 0; column < width(); ++column) {
          to[column] = static_cast<T>(from[column]) * factor;
        }
      });
    }
  });
}

template <class T>
void Embedding<T>::backward(std::span<const std::int64_t> indices, double scale, View<const T> dy,
                            Embedding& gradient, const Pass& pass) const {
  const T factor = static_cast<T>(scale);
  const std::int64_t threads = allowed_threads(pass.threads);
  const std::int64_t groups = (width() + kColumns - 1) / kColumns;
  const std::int64_t columns = (groups + threads - 1) / threads * kColumns;
  parallel_for((width() + columns - 1) / columns, pass.threads, [&](std::int64_t task) {
    const std::int64_t first = task * columns, count = std::min(columns, width() - first);
    const auto sums_of = [&](std::size_t i) {
      return gradient.table_.data() + indices[i] * width() + first;
    };
    const T* from = dy.data() + first;
    for (std::size_t i = 0; i < indices.size(); ++i, from += width()) {
      if (i + kTokensAhead < indices.size())
        kernels::prefetch_row(sums_of(i + kTokensAhead), 0, count);
      if (padding_ == indices[i]) continue;
      T* to = sums_of(i);
      for (std::int64_t c = 0; c < count; ++c) to[c] += from[c] * factor;
    }
  });
}

template <class T>
void Embedding<T>::append_parameters(Parameters<T>& to, const std::string& prefix) {
  to.push_back({prefix + "weight", &table_, false});
}

template <class T>
Tensor<T> embed_with_positions(const Embedding<T>& embedding, View<const std::int64_t> indices,
                               View<const T> positions, const EmbedOptions& options) {
  check_batch(indices, "embed_with_positions.indices");
  const std::int64_t width = embedding.width();
  if (positions.rank() != 2 || positions.size(1) != width) {
    throw Error("embed_with_positions.positions", "must be [positions, " + std::to_string(width) +
                                                      "], got " + positions.shape().to_string());
  }
  const LookedUp rows = rows_of(indices, embedding.tokens(), positions.size(0), options);
  Tensor<T> dense;
  if (width > 1 && positions.stride(1) != 1) dense = copy_of(positions);
  const View<const T> table = dense.count() > 0 ? dense.view() : positions;
  const Sum<T> sum{embedding.table().data(), table.data(), table.stride(0), width,
                   options.scale.value_or(std::sqrt(static_cast<double>(width)))};
  auto out = Tensor<T>::uninitialized({indices.size(0), indices.size(1), width});
  const bool stream = out.count() * static_cast<std::int64_t>(sizeof(T)) >= kStreamBytes;
  const std::int64_t count = rows.tokens.count();
  const std::int64_t block =
      std::max<std::int64_t>(1, kTaskBytes / (width * static_cast<std::int64_t>(sizeof(T))));
  parallel_for((count + block - 1) / block, options.threads, [&](std::int64_t task) {
    const std::int64_t first = task * block;
    sum.into(out.data() + first * width, rows.tokens.data() + first, rows.positions.data() + first,
             std::min(block, count - first), stream);
  });
  return out;
}

Tensor<bool> padding_mask(View<const std::int64_t> indices, std::int64_t padding) {
  check_batch(indices, "padding_mask.indices");
  Tensor<bool> mask({indices.size(0), 1, 1, indices.size(1)});
  for (std::int64_t batch = 0; batch < indices.size(0); ++batch) {
    for (std::int64_t key = 0; key < indices.size(1); ++key) {
      mask(batch, 0, 0, key) = indices(batch, key) != padding;
    }
  }
  return mask;
}

template class Embedding<float>;
template class Embedding<double>;
template Tensor<float> embed_with_positions(const Embedding<float>&, View<const std::int64_t>,
                                            View<const float>, const EmbedOptions&);
template Tensor<double> embed_with_positions(const Embedding<double>&, View<const std::int64_t>,
                                             View<const double>, const EmbedOptions&);

}  // namespace sextant
