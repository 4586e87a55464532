// Token embeddings: look-up, scale, positions and the padding mask.
#include "sextant/layers/embedding.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "sextant/core/error.h"

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

}  // namespace

template <class T>
Embedding<T>::Embedding(Tensor<T> table, std::optional<std::int64_t> padding)
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
Embedding<T> Embedding<T>::random(std::int64_t tokens, std::int64_t width, NumpyRandom& random,
                                  std::optional<std::int64_t> padding) {
  if (tokens < 1) {
    throw Error("embedding.tokens", "must be at least 1, got " + std::to_string(tokens));
  }
  if (width < 1) {
    throw Error("embedding.width", "must be at least 1, got " + std::to_string(width));
  }
  const double deviation = 1 / std::sqrt(static_cast<double>(width));
  Tensor<T> table({tokens, width});
  for (T& value : table.span()) value = static_cast<T>(random.normal() * deviation);
  return Embedding(std::move(table), padding);
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

template <class T>
Tensor<T> embed_with_positions(const Embedding<T>& embedding, View<const std::int64_t> indices,
                               View<const T> positions) {
  check_batch(indices, "embed_with_positions.indices");
  const std::int64_t length = indices.size(1), width = embedding.width();
  if (positions.rank() != 2 || positions.size(0) < length || positions.size(1) != width) {
    throw Error("embed_with_positions.positions", "must be [" + std::to_string(length) +
                                                      " or more, " + std::to_string(width) +
                                                      "], got " + positions.shape().to_string());
  }
  Tensor<T> x = embedding(indices, std::sqrt(static_cast<double>(width)));
  for (std::int64_t batch = 0; batch < indices.size(0); ++batch) {
    for (std::int64_t row = 0; row < length; ++row) {
      for (std::int64_t column = 0; column < width; ++column) {
        x(batch, row, column) += positions(row, column);
      }
    }
  }
  return x;
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
                                            View<const float>);
template Tensor<double> embed_with_positions(const Embedding<double>&, View<const std::int64_t>,
                                             View<const double>);

}  // namespace sextant
