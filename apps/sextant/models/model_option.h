// --model DIR, --dtype, --replace-scheme, --without-positions and --threads, of the commands that
// use trained models.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "options/command_line.h"
#include "options/field_options.h"
#include "sextant/models/beam_search.h"
#include "sextant/models/model_folder.h"

namespace sextant::app {

struct ModelOption {
  std::vector<std::string> folders;
  std::string read_as;  // of folders of the Hugging Face hub
  int threads = 0;
  WeightOptions weights;
  SchemeSpecs other_schemes;                  // instead of the model's own; empty: these
  std::vector<std::int64_t> replaced_layers;  // that have them; empty: all

  // `several`: the option may be there more than once.
  CLI::Option* add_to(CLI::App& command, bool several = false);
  CLI::Option* add_folder(CLI::App& command, bool several = false);  // --model alone
  void add_dtype(CLI::App& command);
  // Whether it is one folder, of an image model of the hub.
  bool is_of_images() const;
  // The folder, with config and tokenizer. Throws Error for a model of none of these kinds, for
  // more than one, and as open_model_folder().
  ModelFolder open(std::initializer_list<ModelKind> kinds) const;
  std::vector<ModelFolder> open_all(std::initializer_list<ModelKind> kinds) const;

 private:
  std::string command_, where_;  // "generate", "generate.model"
};

// --beams and --length-penalty; --n-best if asked for.
void add_search(CLI::App& command, BeamSearchOptions& search,
                const Wording& n_best = {.field = "n_best", .hidden = true});

}  // namespace sextant::app
