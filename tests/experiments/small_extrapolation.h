// An experiment that takes no time: a text of ten letters, models of width 8.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/experiments/extrapolation_run.h"
#include "training/run_folders.h"

namespace sextant {

class SmallExtrapolation : public RunFolders {
 protected:
  SmallExtrapolation() {
    for (int i = 0; i < 40; ++i) text_ += "abcdefghij";
    tokenizer_ =
        Tokenizer::train(std::vector<std::string>{text_}, {.kind = TokenizerKind::character});
    tokens_ = tokenizer_->encode(text_);
    held_out_ = tokenizer_->encode(text_.substr(0, 100));
  }

  ExtrapolationOptions small(const std::string& folder,
                             const std::vector<std::string>& schemes) const {
    ExtrapolationOptions options{.folder = path(folder)};
    for (const std::string& scheme : schemes) options.schemes.push_back({scheme, {scheme}});
    options.model.width = 8;
    options.model.heads = 2;
    options.model.layers = 1;
    options.data = {.length = 8, .batch_size = 2};
    options.steps = 6;
    options.test_lengths = {8, 16};
    options.stride = 4;
    options.scored = 64;
    options.threads = 1;
    options.clock = [] { return 0.0; };
    return options;
  }

  std::string text_;
  std::optional<Tokenizer> tokenizer_;
  std::vector<std::int64_t> tokens_, held_out_;
};

}  // namespace sextant
