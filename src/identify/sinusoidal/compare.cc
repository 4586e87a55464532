// Comparing a given table with a remade one: blocks of rows, so that a long table needs little
// memory.
#include "identify/sinusoidal/compare.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "identify/numbers.h"
#include "sextant/core/parallel.h"

namespace sextant::identify {
namespace {

// Radians per position of each of the first `width` columns.
std::vector<double> column_frequencies(const Sinusoidal& options, std::int64_t width) {
  const Tensor<double> sines = sinusoidal_frequencies(options, false);
  const Tensor<double> cosines = sinusoidal_frequencies(options, true);
  std::vector<double> frequencies;
  for (std::int64_t column = 0; column < width; ++column) {
    const SinusoidalColumn shown = sinusoidal_column(options, column);
    frequencies.push_back(shown.pair < 0 ? 0 : (shown.cosine ? cosines : sines).data()[shown.pair]);
  }
  return frequencies;
}

struct Tolerances {
  std::vector<double> frequencies;
  Noise noise;
  double relative;  // of the value, all causes
  double scale;
};

// Rows [begin, begin + remade rows) of the table.
template <class T>
Comparison compare_block(View<const double> table, std::int64_t begin, const Tensor<T>& remade,
                         std::int64_t first, const Tolerances& allowed, double unit_roundoff) {
  Comparison result;
  const std::int64_t width = table.size(1);
  const double useless = kUseless * allowed.scale;
  for (std::int64_t i = 0; i < remade.size(0); ++i) {
    const std::int64_t row = begin + i;
    if (is_empty_row(table, row)) {
      result.rows_empty += 1;
      continue;
    }
    const T* again = remade.data() + i * remade.size(1);
    const double position = std::abs(static_cast<double>(first + row));
    for (std::int64_t column = 0; column < width; ++column) {
      const double given = table(row, column);
      const double exact = static_cast<double>(again[column]);
      const double angle = position * allowed.frequencies[static_cast<std::size_t>(column)];
      const double size = std::max(std::abs(exact), std::abs(given));
      const double tolerance = allowed.relative * std::max(size, allowed.noise.tiny) +
                               allowed.noise.angle * (allowed.scale * angle + size);
      if (tolerance > useless) {
        result.useless += 1;
      } else {
        result.compared += 1;
        if (!(std::abs(given - exact) <= tolerance)) result.outside += 1;
      }
      const double deviation = std::abs(given - rounded_to(unit_roundoff, exact));
      if (deviation > result.max_deviation) {
        result.max_deviation = deviation;
        result.row = row;
        result.column = column;
      }
    }
  }
  return result;
}

void merge(Comparison& into, const Comparison& part) {
  if (part.max_deviation > into.max_deviation) {
    into.max_deviation = part.max_deviation;
    into.row = part.row;
    into.column = part.column;
  }
  into.compared += part.compared;
  into.useless += part.useless;
  into.outside += part.outside;
  into.rows_empty += part.rows_empty;
}

}  // namespace

Comparison compare(View<const double> table, const Sinusoidal& options, const Noise& noise,
                   double scale_tolerance, double unit_roundoff, std::int64_t sample_rows) {
  const std::int64_t length = table.size(0);
  const bool all = sample_rows >= length;
  // About 2 MB of remade values per block; a sample takes single rows, evenly spread.
  const std::int64_t block = all ? std::max<std::int64_t>(1, (1 << 18) / options.width) : 1;
  const std::int64_t blocks = all ? (length + block - 1) / block : sample_rows;
  const Tolerances allowed{column_frequencies(options, table.size(1)), noise,
                           // 1 % for values that were rounded twice on the way to 16 bits
                           1.01 * noise.storage + scale_tolerance, std::abs(options.scale)};
  std::vector<Comparison> parts(static_cast<std::size_t>(blocks));
  parallel_for(blocks, options.threads, [&](std::int64_t b) {
    const std::int64_t begin =
        all ? b * block : b * (length - 1) / std::max<std::int64_t>(1, blocks - 1);
    Sinusoidal rows = options;
    rows.first = options.first + begin;
    rows.length = all ? std::min(block, length - begin) : 1;
    rows.threads = 1;
    Comparison& part = parts[static_cast<std::size_t>(b)];
    // Frameworks compute in float32 whatever they store.
    part = options.precision == Precision::framework
               ? compare_block(table, begin, sinusoidal<float>(rows), options.first, allowed,
                               unit_roundoff)
               : compare_block(table, begin, sinusoidal<double>(rows), options.first, allowed,
                               unit_roundoff);
  });
  Comparison result;
  for (const Comparison& part : parts) merge(result, part);
  return result;
}

}  // namespace sextant::identify
