// --model DIR and --threads, of the commands that use trained models.
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <string>

#include "sextant/models/model_folder.h"

namespace sextant::app {

struct ModelOption {
  std::string folder;
  int threads = 0;

  CLI::Option* add_to(CLI::App& command);
  // The folder, with config and tokenizer. Throws Error for a model of none of these kinds, and as
  // open_model_folder().
  ModelFolder open(std::initializer_list<ModelKind> kinds) const;

 private:
  std::string where_;  // "generate.model"
};

// "a causal language model".
std::string described(ModelKind kind);

}  // namespace sextant::app
