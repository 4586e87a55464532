// Declares the options of `sextant extrapolate`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/model_option.h"
#include "options/command_line.h"
#include "options/options.h"
#include "sextant/experiments/extrapolation_run.h"
#include "sextant/training/tasks/text_data.h"

namespace sextant::app {

inline constexpr Format kScoreFormats[] = {Format::text, Format::csv, Format::json};

struct ExtrapolateOptions {
  std::vector<std::string> texts;
  ModelOption model;         // whose positions are exchanged; none: new models are trained
  LanguageDataOptions data;  // the held-out text is scored
  ExtrapolationOptions run;
  Output output;        // of the table
  std::string picture;  // a file in addition to the one in the folder

  void add_to(CLI::App& command);
  // Throws Error for mistakes in the options alone, and CLI::RequiredError for missing ones.
  void check(const CLI::App& command) const;
  bool trains() const { return model.folders.empty() || run.steps > 0 || run.minutes > 0; }
  // Prepares the further training of the model, which must exist as long as the options.
  void train_further(const CLI::App& command, const TextModel& trained);

 private:
  void check_of_model(const CLI::App& command) const;
};

}  // namespace sextant::app
