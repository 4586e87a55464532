// What terms of scores add to the rows of a tile: numbers, straight lines, products. Rows are
// collected and added together, because the choice of an instruction set takes as long as a row.
#pragma once

#include <cstdint>

namespace sextant::kernels {

// Numbers for `count` neighbouring scores. step is -1, 0 or 1.
struct BiasRow {
  const float* from;
  float* to;
  std::int32_t count, step;
};
// to[n] += from[n] of each row; every step is 1.
void add_rows(const BiasRow* rows, std::int64_t count) noexcept;
// to[n] += factor from[n step] where to[n] is not -infinity: hidden pairs stay hidden, whatever
// `from` holds for them.
void add_to_visible(const BiasRow* rows, std::int64_t count, float factor) noexcept;

// to[n] += slope from[n] + intercept, each operation rounded to float64 and the sum of both to
// float32.
struct BiasLine {
  const double* from;
  float* to;
  std::int64_t count;
  double slope, intercept;
};
void add_lines(const BiasLine* lines, std::int64_t count) noexcept;

// A tile whose numbers are elements of products with columns: query i and key j have
// products[i * by_query + j * by_key + columns[queries - 1 - i + j]].
struct BiasDiagonals {
  const float* products;
  std::int32_t by_query, by_key;
  const std::int32_t* columns;  // [queries + keys - 1]
  std::int64_t queries, keys;
  float* to;
  std::int64_t to_row;
};
// As add_to_visible().
void add_diagonals_to_visible(const BiasDiagonals& tile, float factor) noexcept;

// Collects rows and adds them with `add` when there are many, and at the end.
template <class Row, class Add>
class RowList {
 public:
  explicit RowList(const Add& add) noexcept : add_(add) {}
  RowList(const RowList&) = delete;
  RowList& operator=(const RowList&) = delete;
  ~RowList() { add_(rows_, count_); }

  void add(const Row& row) noexcept {
    if (count_ == kRows) {
      add_(rows_, count_);
      count_ = 0;
    }
    rows_[count_++] = row;
  }

 private:
  static constexpr std::int64_t kRows = 128;
  Add add_;
  std::int64_t count_ = 0;
  Row rows_[kRows];
};

}  // namespace sextant::kernels
