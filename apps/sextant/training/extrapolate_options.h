// What `sextant extrapolate` was asked for.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "options/options.h"
#include "sextant/experiments/extrapolation_run.h"
#include "sextant/text/tokenizer.h"

namespace sextant::app {

inline constexpr Format kScoreFormats[] = {Format::text, Format::csv, Format::json};

struct ExtrapolateOptions {
  std::vector<std::string> texts;
  double held_out = 0.1;  // part at the end of each text that is scored, not learned
  TokenizerTraining tokenizer{.kind = TokenizerKind::character};
  ExtrapolationOptions run;
  Output output;        // of the table
  std::string picture;  // a file beside the one in the folder

  void add_to(CLI::App& command);
  // Throws Error for what the words alone tell, and CLI::RequiredError for missing ones.
  void check() const;
};

}  // namespace sextant::app
