// Whether the values of a table bear out a supposed position, and how fast its frequencies fall.
#pragma once

#include <vector>

#include "identify/sinusoidal/ratio.h"

namespace sextant::identify {

// Exact bases are exact to the last bits of a double.
inline constexpr double kExact = 0x1p-50;

// One value of the table, and where it stands.
struct Value {
  double order;  // sensitivity at row 0, up to a factor
  double row;
  double index;
  double theta;  // at the supposed ratio
  double value;  // divided by the scale
  double error;
  bool cosine;
};

// What the values say about a supposed position.
struct Verdict {
  double tested = 0;
  double wrong = 0;
  double information = 0;  // about the logarithm of the ratio
  double misfit = 0;       // sum of squares over expected errors
  bool stuck = false;      // the ratio is too uncertain to predict the faster columns
};

// Nothing to sharpen.
bool is_exact(const Ratio& ratio);

// Runs the filter over values in order of sensitivity, which sharpens `ratio`; stops once more than
// `allowed_wrong` and a sixteenth of them are wrong.
Verdict filter(const std::vector<Value>& values, double first, double angle_noise,
               double allowed_wrong, Ratio& ratio);

}  // namespace sextant::identify
