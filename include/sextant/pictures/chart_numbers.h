// The numbers that a chart draws and what they are called, for programs that read them or draw them
// with other tools.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/pictures/color.h"

namespace sextant {

struct ChartNumbers {
  // `points` are lines drawn as markers, `dots` are names on one logarithmic axis.
  enum class Kind { matrices, lines, points, dots };
  struct Array {
    std::string name;  // of a line; may be empty
    // matrices: [rows, columns], -infinity where a pair is hidden. lines and points: [points, 2] of
    // x and y, or [points, 4] with the lower and upper end of the band. dots: [names, 1].
    Tensor<double> numbers;
  };
  struct Panel {
    std::string title = {};  // may be empty
    std::vector<Array> arrays = {};
    Tensor<double> curve = {};  // [points, 2], between the points of the first line; may be empty
  };
  Kind kind = Kind::matrices;
  std::string title = {}, x_label = {}, y_label = {}, value_label = {};  // may be empty
  std::vector<Panel> panels = {};
  // Names of rows and columns: one each, or none, where they are counted from the first.
  std::vector<std::string> row_labels = {}, column_labels = {};
  double first_row = 0, first_column = 0;
  ColorMap map = ColorMap::viridis;  // of matrices, with the ends of the scale
  double low = 0, high = 0;
  bool log_x = false, log_y = false;
};

std::string_view name_of(ChartNumbers::Kind kind) noexcept;

// Of one picture: a chart, or those that stand below each other.
using PictureNumbers = std::vector<std::shared_ptr<const ChartNumbers>>;

}  // namespace sextant
