// Trains a small language model on a file and lets it continue a text.
#include <filesystem>
#include <iostream>
#include <string>

#include "sextant/core.h"
#include "sextant/models.h"
#include "sextant/training.h"

namespace sx = sextant;

int main() {
  std::string rhyme;
  for (int i = 0; i < 30; ++i) {
    rhyme += "This is the house that Jack built.\nThis is the malt that lay in the house.\n";
  }
  const std::string file = std::filesystem::temp_directory_path() / "sextant_rhyme.txt";
  sx::write_file(file, rhyme);

  auto data = sx::load_language_data(file, {.held_out = 0.1});
  sx::LanguageTask task(data, {.width = 64, .heads = 4, .layers = 2},
                        {.length = 64, .batch_size = 8});
  sx::train(task, {.steps = 120, .schedule = {.peak = 3e-3, .warmup = 10}});
  std::cout << sx::generate(task.model(), "This is the house",
                            {.max_tokens = 58, .sampling = {.temperature = 0}})
            << '\n';

  const std::string folder = std::filesystem::temp_directory_path() / "sextant_rhyme_model";
  task.model().save(folder);  // the weights, their configuration and the tokenizer
  auto loaded = sx::TextModel::load(folder);
  const auto score = sx::evaluate(loaded, rhyme, {.length = 64, .stride = 16}).windows.back();
  std::cout << "perplexity: " << sx::fixed(score.perplexity, 1) << '\n';
  std::filesystem::remove(file);
  std::filesystem::remove_all(folder);
}
