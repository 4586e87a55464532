// Small tables, weights and words for the tests of pictures: the same numbers on every machine.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/pictures/charts.h"

namespace sextant::testing {

// The interleaved sinusoidal table, base 10000.
inline Tensor<double> sinusoids(std::int64_t length, std::int64_t width) {
  Tensor<double> table({length, width});
  for (std::int64_t k = 0; k < length; ++k) {
    for (std::int64_t i = 0; i < width; ++i) {
      const double exponent = 2.0 * static_cast<double>(i / 2) / static_cast<double>(width);
      const double angle = static_cast<double>(k) / std::pow(10000.0, exponent);
      table(k, i) = i % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
  }
  return table;
}

// Positive rows that sum to one; exact fractions before the division, so no library can differ.
inline Tensor<double> weights(std::int64_t heads, std::int64_t queries, std::int64_t keys) {
  Tensor<double> table({heads, queries, keys});
  for (std::int64_t h = 0; h < heads; ++h) {
    for (std::int64_t i = 0; i < queries; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < keys; ++j) {
        const std::int64_t mixed = (h * 31 + i * 17 + j * 7 + i * j * 5) % 23;
        sum += table(h, i, j) = static_cast<double>(mixed * mixed + 1);
      }
      for (std::int64_t j = 0; j < keys; ++j) table(h, i, j) /= sum;
    }
  }
  return table;
}

inline std::vector<std::string> words(std::size_t count) {
  const std::vector<std::string> sentence = {"The",   "black", "cat", "sat",   "on",  "the",
                                             "couch", "and",   "the", "brown", "dog", "slept",
                                             "on",    "the",   "rug", "."};
  std::vector<std::string> taken;
  for (std::size_t i = 0; i < count; ++i) taken.push_back(sentence[i % sentence.size()]);
  return taken;
}

// Tokens that have broken other programs: markup, marks of tokenizers, nothing at all, many
// scripts, very long words, control characters, bytes that are not UTF-8.
inline std::vector<std::string> hard_words(std::size_t count) {
  const std::vector<std::string> tokens = {"<pad>",
                                           "&amp;",
                                           "▁the",
                                           "Ġthe",
                                           "low</w>",
                                           "",
                                           " ",
                                           "\n",
                                           "\"'",
                                           "位置编码",
                                           "שלום",
                                           "مرحبا",
                                           "привет",
                                           "한국어",
                                           "a\x01"
                                           "b\xff",
                                           "]]>",
                                           "Donaudampfschifffahrtsgesellschaftskapitän",
                                           "日本語トークンはとても長いことがあります"};
  std::vector<std::string> taken;
  for (std::size_t i = 0; i < count; ++i) taken.push_back(tokens[i % tokens.size()]);
  return taken;
}

// One panel of these series.
inline LinePanels chart_of(std::vector<Series> series) {
  LinePanels chart{.title = "", .x_label = "", .y_label = "", .panels = {}};
  chart.panels.push_back({.series = std::move(series)});
  return chart;
}

// Lines of a table as panels of curves, the words on them: columns (axis 1) or rows (axis 0).
inline LinePanels panels_of(const Tensor<double>& table, int axis,
                            const std::vector<std::int64_t>& chosen,
                            std::vector<std::string> point_labels = {}) {
  LinePanels chart{.title = "", .x_label = "Index (k)", .y_label = "", .panels = {}};
  for (const std::int64_t at : chosen) {
    std::vector<double> values;
    const auto line = table.view().select(axis, at);
    for (std::int64_t i = 0; i < line.size(0); ++i) values.push_back(line(i));
    chart.panels.push_back({"Line " + std::to_string(at), {counted("", std::move(values))}});
  }
  chart.point_labels = std::move(point_labels);
  chart.whole_x = true;
  chart.panel_width = 300;
  chart.panel_height = 170;
  return chart;
}

}  // namespace sextant::testing
