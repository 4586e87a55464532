// Norms of the heads of q and k where a map has put them: columns of a matrix.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "sextant/layers/norm.h"

namespace sextant::layers {

// Copies columns of a matrix, [tokens, heads head_dim], into separate rows in the pass's memory,
// and back. Norms need contiguous rows.
template <class T>
View<T> packed(View<const T> columns, std::int64_t norm_width, Pass& pass) {
  const std::int64_t width = columns.size(1);
  const View<T> rows = pass.memory.take<T>({columns.size(0) * (width / norm_width), norm_width});
  for (std::int64_t i = 0; i < columns.size(0); ++i) {
    std::copy_n(&columns(i, 0), width, rows.data() + i * width);
  }
  return rows;
}
template <class T>
void unpack(View<const T> rows, View<T> columns) {
  const std::int64_t width = columns.size(1);
  for (std::int64_t i = 0; i < columns.size(0); ++i) {
    std::copy_n(rows.data() + i * width, width, &columns(i, 0));
  }
}

// Norms columns of a matrix in place; nothing where there is no norm.
template <class T>
std::optional<typename Norm<T>::Saved> norm_columns(const std::optional<Norm<T>>& norm,
                                                    View<T> columns, Pass& pass) {
  if (!norm) return {};
  const View<const T> x = packed<T>(columns, norm->gain.count(), pass);
  const View<T> y = pass.memory.take<T>(x.shape());
  const auto saved = norm->forward(x, y, pass);
  unpack<T>(y, columns);
  return saved;
}
// d: of the normed columns, becomes that of the columns.
template <class T>
void norm_columns_backward(const std::optional<Norm<T>>& norm,
                           const std::optional<typename Norm<T>::Saved>& saved, View<T> d,
                           std::optional<Norm<T>>& gradient, Pass& pass) {
  if (!norm) return;
  const View<T> rows = packed<T>(d, norm->gain.count(), pass);
  norm->backward(*saved, rows, rows, false, *gradient, pass);
  unpack<T>(rows, d);
}

}  // namespace sextant::layers
