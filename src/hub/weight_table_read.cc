// Parameters from a file's tensors: whole parts into float32, pieces of them where they are
// rounded.
#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "core/arrays/large_pages.h"
#include "hub/weight_table.h"
#include "sextant/core/error.h"

namespace sextant::hub {
namespace {

constexpr std::int64_t kPiece = 1 << 16;  // numbers in float32 before they are rounded

template <class T>
bool all_finite(std::span<const T> numbers) {
  return std::ranges::all_of(numbers, [](T x) { return std::isfinite(static_cast<float>(x)); });
}

}  // namespace

void WeightTable::read_into(const Parameters<float>& parameters) const {
  for (const auto& [name, tensor, decays] : parameters) {
    const auto found = sources_.find(name);
    std::int64_t count = 0;
    if (found != sources_.end()) {
      for (const Part& part : found->second.parts) count += part.count;
    }
    if (count != tensor.count()) {
      throw Error(file_->path(), "must hold all of " + name + ", got " + std::to_string(count) +
                                     " of " + std::to_string(tensor.count()) + " numbers");
    }
    const std::int64_t columns = count / std::max<std::int64_t>(1, tensor.shape()[0]);
    tensor.with_tensor([&](auto& to) { read_source(found->second, columns, to.span()); });
  }
}

template <class T>
void WeightTable::read_source(const Source& source, std::int64_t columns, std::span<T> to) const {
  ask_for_large_pages(std::as_writable_bytes(to).data(), to.size_bytes());
  std::vector<float> row;
  if (source.first_row != nullptr) {
    row.resize(static_cast<std::size_t>(columns));
    file_->read<float>(*source.first_row, 0, row);
    for (float& x : row) x *= source.first_row_factor;
  }
  std::vector<float> buffer;
  std::int64_t place = 0;  // in the parameter
  for (const Part& part : source.parts) {
    // Only rows as they are stored are there in pieces.
    const bool in_pieces = !std::is_same_v<T, float> && !part.make && part.stored == Stored::rows;
    const std::int64_t most = in_pieces ? kPiece : part.count;
    for (std::int64_t first = 0; first < part.count; first += most) {
      const auto size = static_cast<std::size_t>(std::min(most, part.count - first));
      const std::span<T> piece = to.subspan(static_cast<std::size_t>(place + first), size);
      std::span<float> numbers;
      if constexpr (std::is_same_v<T, float>) {
        numbers = piece;
      } else {
        buffer.resize(std::max(buffer.size(), size));
        numbers = std::span(buffer).first(size);
      }
      read(part, first, numbers);
      if (part.tensor != nullptr) check_finite<float>(*part.tensor, numbers);
      finish(source, columns, row, place + first, numbers);
      if (!row.empty()) check_finite<float>(*source.first_row, numbers);
      if constexpr (!std::is_same_v<T, float>) {
        std::ranges::transform(numbers, piece.begin(), [](float x) { return T(x); });
        if (part.tensor != nullptr) check_finite<T>(*part.tensor, piece);
      }
    }
    place += part.count;
  }
}

// Scales first rows, and adds a row, to the numbers of a parameter from `place` on.
void WeightTable::finish(const Source& source, std::int64_t columns, std::span<const float> row,
                         std::int64_t place, std::span<float> numbers) {
  const auto scaled = static_cast<std::size_t>(
      std::clamp<std::int64_t>(source.scaled_rows * columns - place, 0, std::ssize(numbers)));
  for (float& x : numbers.first(scaled)) {
    x = static_cast<float>(source.factor * static_cast<double>(x));
  }
  if (row.empty()) return;
  auto column = static_cast<std::size_t>(place % columns);
  for (float& x : numbers) {
    x += row[column];
    if (++column == row.size()) column = 0;
  }
}

template <class T>
void WeightTable::check_finite(const StoredTensor& from, std::span<const T> numbers) const {
  if (all_finite(numbers)) return;
  const std::string type = std::is_same_v<T, float>      ? ""
                           : std::is_same_v<T, bfloat16> ? " in bfloat16"
                                                         : " in float16";
  fail(from, "must hold finite numbers" + type + ", got others in " + from.name);
}

// `first` is 0, and `to` all of the part, unless it has rows as they are stored.
void WeightTable::read(const Part& part, std::int64_t first, std::span<float> to) const {
  if (part.make) return part.make(to);
  if (part.tensor == nullptr) {
    std::ranges::fill(to, static_cast<float>(part.added));
    return;
  }
  const StoredTensor& from = *part.tensor;
  if (part.stored == Stored::columns) {
    read_columns(from, to);
  } else if (part.rows.empty()) {
    file_->read<float>(from, first, to);
  } else {
    read_rows(part, first, to);
  }
  if (part.factor == 1 && part.added == 0) return;
  for (float& x : to) {
    x = static_cast<float>(part.factor * static_cast<double>(x) + part.added);
  }
}

void WeightTable::read_rows(const Part& part, std::int64_t first, std::span<float> to) const {
  const StoredTensor& from = *part.tensor;
  const std::int64_t columns = from.count() / from.shape[0];
  for (const StoredRows& each : part.rows) {
    const std::int64_t count = each.count * columns;
    if (first < count) {
      const auto size =
          static_cast<std::size_t>(std::min<std::int64_t>(count - first, std::ssize(to)));
      file_->read<float>(from, each.first * columns + first, to.first(size));
      to = to.subspan(size);
    }
    first = std::max<std::int64_t>(0, first - count);
  }
}

void WeightTable::read_columns(const StoredTensor& from, std::span<float> to) const {
  constexpr std::int64_t kRows = 16;  // a line of the cache of each row of the result
  const std::int64_t in = from.shape[0], out = from.shape[1];
  std::vector<float> rows(static_cast<std::size_t>(std::min(kRows, in) * out));
  for (std::int64_t first = 0; first < in; first += kRows) {
    const std::int64_t count = std::min(kRows, in - first);
    file_->read<float>(from, first * out,
                       std::span(rows).first(static_cast<std::size_t>(count * out)));
    for (std::int64_t column = 0; column < out; ++column) {
      float* const line = to.data() + column * in + first;
      for (std::int64_t i = 0; i < count; ++i)
        line[i] = rows[static_cast<std::size_t>(i * out + column)];
    }
  }
}

}  // namespace sextant::hub
