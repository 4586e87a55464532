// Shapes, and the parts of tensors and views that do not depend on the element type.
#include "sextant/core/tensor.h"

#include <limits>

namespace sextant {

Shape::Shape(std::span<const std::int64_t> sizes) {
  if (sizes.size() > static_cast<std::size_t>(kMaxRank)) {
    throw Error("shape", "must have at most " + std::to_string(kMaxRank) + " axes, got " +
                             std::to_string(sizes.size()));
  }
  rank_ = static_cast<int>(sizes.size());
  std::copy(sizes.begin(), sizes.end(), sizes_.begin());
  constexpr std::int64_t kMaxElements = std::int64_t{1} << 62;
  // Zeros are skipped, so that the strides of an empty array cannot overflow either.
  std::int64_t product = 1;
  for (const std::int64_t size : sizes) {
    if (size < 0) {
      throw Error("shape", "must not have negative sizes, got " + to_string());
    }
    if (size == 0) continue;
    if (product > kMaxElements / size) {
      throw Error("shape", "must not have more than 2^62 elements, got " + to_string());
    }
    product *= size;
  }
}

std::int64_t Shape::count() const noexcept {
  std::int64_t product = 1;
  for (const std::int64_t size : *this) product *= size;
  return product;
}

std::string Shape::to_string() const {
  std::string text = "[";
  for (const std::int64_t size : *this) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(size);
  }
  return text + "]";
}

namespace detail {

void* allocate_elements(std::int64_t count, std::size_t size) {
  if (count == 0) return nullptr;
  const auto wanted = static_cast<std::uint64_t>(count);
  constexpr auto kMaxBytes = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());
  void* data = nullptr;
  if (wanted <= kMaxBytes / size) {
    data = ::operator new (static_cast<std::size_t>(wanted) * size, std::align_val_t{kAlignment},
                           std::nothrow);
  }
  if (data == nullptr) {
    throw Error("tensor.shape", "needs memory for " + std::to_string(count) + " elements of " +
                                    std::to_string(size) + " bytes, which is not available");
  }
  return data;
}

void check_axis(const char* where, int axis, int rank) {
  if (axis < 0 || axis >= rank) {
    throw Error(where, "must be in 0 .. rank - 1 for rank " + std::to_string(rank) + ", got " +
                           std::to_string(axis));
  }
}

void check_index(std::int64_t index, std::int64_t size) {
  if (index < 0 || index >= size) {
    throw Error("view.select.index", "must be in 0 .. size - 1 for size " + std::to_string(size) +
                                         ", got " + std::to_string(index));
  }
}

void check_range(std::int64_t begin, std::int64_t length, std::int64_t size) {
  if (begin < 0 || begin > size || length < 0 || length > size - begin) {
    throw Error("view.narrow.range", "must lie inside size " + std::to_string(size) +
                                         ", got begin " + std::to_string(begin) + " and length " +
                                         std::to_string(length));
  }
}

void check_split(int rank, std::int64_t size, std::int64_t outer) {
  if (rank == kMaxRank) {
    throw Error("view.split",
                "must have at most " + std::to_string(kMaxRank - 1) + " axes before it gains one");
  }
  if (outer < 1 || size % outer != 0) {
    throw Error("view.split.outer",
                "must divide size " + std::to_string(size) + ", got " + std::to_string(outer));
  }
}

}  // namespace detail
}  // namespace sextant
