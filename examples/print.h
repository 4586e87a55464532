// Prints rows of numbers on standard output, for all examples.
#pragma once

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "sextant/core.h"

// Prints one line per row, with a label before each if there are labels.
inline void print_rows(sextant::View<const double> rows, int decimals,
                       const std::vector<std::string>& labels = {}) {
  std::size_t width = 0;
  for (const std::string& label : labels) width = std::max(width, label.size());
  for (std::int64_t row = 0; row < rows.size(0); ++row) {
    std::string label = labels.empty() ? "" : labels[static_cast<std::size_t>(row)];
    std::cout << "  " << label << std::string(width - label.size(), ' ');
    for (std::int64_t i = 0; i < rows.size(1); ++i) {
      const std::string text = sextant::fixed(rows(row, i), decimals);
      std::cout << (text.front() == '-' ? " " : "  ") << text;
    }
    std::cout << '\n';
  }
}

// True if the sum of each row is 1 up to the rounding of its terms.
inline bool rows_sum_to_one(sextant::View<const double> rows) {
  for (std::int64_t row = 0; row < rows.size(0); ++row) {
    double sum = 0;
    for (std::int64_t i = 0; i < rows.size(1); ++i) sum += rows(row, i);
    const double rounding = 0x1p-52 * static_cast<double>(rows.size(1));
    if (!(sum >= 1 - rounding && sum <= 1 + rounding)) return false;
  }
  return true;
}

inline const char* yes_no(bool value) { return value ? "yes" : "no"; }
