// A candidate made again in blocks of rows, so that a long table needs little memory.
#include "identify/sinusoidal/compare.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/threads/interruption.h"
#include "identify/numbers.h"
#include "schemes/added/sinusoidal_columns.h"
#include "sextant/core/parallel.h"

namespace sextant::identify {
namespace {

// Radians per position of each of the first `width` columns.
std::vector<double> column_frequencies(const Sinusoidal& options, std::int64_t width) {
  const Tensor<double> sines = sinusoidal_frequencies(options, false);
  const Tensor<double> cosines = sinusoidal_frequencies(options, true);
  std::vector<double> frequencies;
  in_parts(width, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t column = begin; column < end; ++column) {
      const auto [pair, cosine] = column_of(options, column);  // the frequencies were checked
      frequencies.push_back(pair < 0 ? 0 : (cosine ? cosines : sines).data()[pair]);
    }
  });
  return frequencies;
}

}  // namespace

double Comparison::share_outside() const {
  if (static_cast<double>(compared) <= kUseless * static_cast<double>(compared + useless)) return 1;
  return static_cast<double>(outside) / static_cast<double>(compared);
}

Comparison compare(View<const double> table, const Sinusoidal& options, const Noise& noise,
                   double scale_error, double unit_roundoff, std::int64_t sample_rows) {
  const std::int64_t length = table.size(0), width = table.size(1);
  const bool all = sample_rows >= length;
  // About 2 MB of remade values per block; a sample takes single rows, evenly spread.
  const std::int64_t block = all ? std::max<std::int64_t>(1, (1 << 18) / options.width) : 1;
  const std::int64_t blocks = all ? (length + block - 1) / block : sample_rows;
  const std::vector<double> frequencies = column_frequencies(options, width);
  const double scale = std::fabs(options.scale);
  // 1 % for values that were rounded twice on the way to 16 bits
  const double relative = 1.01 * noise.storage + scale_error;
  std::vector<Comparison> parts(static_cast<std::size_t>(blocks));
  parallel_for(blocks, options.threads, [&](std::int64_t b) {
    const std::int64_t begin =
        all ? b * block : b * (length - 1) / std::max<std::int64_t>(1, blocks - 1);
    Sinusoidal rows = options;
    rows.first = options.first + begin;
    rows.length = all ? std::min(block, length - begin) : 1;
    rows.threads = 1;
    // Frameworks compute in float32 for every stored type.
    Tensor<double> remade;
    if (options.precision == Precision::framework) {
      const Tensor<float> short_values = sinusoidal<float>(rows);
      remade = Tensor<double>(short_values.shape());
      std::copy_n(short_values.data(), remade.count(), remade.data());
    } else {
      remade = sinusoidal<double>(rows);
    }
    Comparison part;
    for (std::int64_t row = begin; row < begin + rows.length; ++row) {
      const double* made = remade.data() + (row - begin) * options.width;
      if (is_empty_row(table, row)) {
        part.rows_empty += 1;
        continue;
      }
      const double position = std::fabs(static_cast<double>(options.first + row));
      for (std::int64_t column = 0; column < width; ++column) {
        const double given = table(row, column), exact = made[column];
        const double angle = position * frequencies[static_cast<std::size_t>(column)];
        const double size = std::max(std::fabs(exact), std::fabs(given));
        const double allowed =
            relative * std::max(size, noise.tiny) + noise.angle * (scale * angle + size);
        const double deviation = std::fabs(given - rounded_to(unit_roundoff, exact));
        const bool useful = allowed <= kUseless * scale;
        (useful ? part.compared : part.useless) += 1;
        if (useful && !(std::fabs(given - exact) <= allowed)) part.outside += 1;
        if (deviation > part.max_deviation) {
          part.max_deviation = deviation;
          part.row = row;
          part.column = column;
        }
      }
    }
    parts[static_cast<std::size_t>(b)] = part;
  });
  Comparison result;
  for (const Comparison& part : parts) {
    if (part.max_deviation > result.max_deviation) {
      result.max_deviation = part.max_deviation;
      result.row = part.row;
      result.column = part.column;
    }
    result.compared += part.compared;
    result.useless += part.useless;
    result.outside += part.outside;
    result.rows_empty += part.rows_empty;
  }
  return result;
}

}  // namespace sextant::identify
