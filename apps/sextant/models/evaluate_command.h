// Declares what the parts of `sextant evaluate` share.
#pragma once

#include <string>

#include "models/model_option.h"
#include "sextant/models/text_windows.h"
#include "sextant/models/translate.h"

namespace sextant::app {

struct Evaluate {
  ModelOption model;
  std::string pairs, text;  // files, one of the two
  bool json = false;

  // Options for pairs.
  TranslateOptions options{};
  bool reverse = false;
  std::int64_t limit = 0;  // pairs; 0: all
  std::string output;

  TextWindows windows;  // of texts
};

void evaluate_pairs(const Evaluate& command);
void evaluate_text(const Evaluate& command);

}  // namespace sextant::app
