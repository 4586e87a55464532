// The tokens of a run's texts: made once, and kept in the run's folder.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "sextant/text/token_file.h"
#include "sextant/text/tokenizer.h"
#include "sextant/training/tasks/training_plan.h"

namespace sextant {

struct TextTokens {
  Tokenizer tokenizer;
  TokenFile file;  // `training` is set
  // For a new run: removes the written files unless the run has a checkpoint by then.
  std::shared_ptr<const void> kept{};
};

// Returns tokens of settings.files, texts or a file of tokens, by an existing tokenizer, or one
// trained on their training part. With plan.trainer.folder the tokens and the tokenizer are in
// FOLDER/data, and the first rank of a group writes them there. `resumed`: the texts of a resumed
// run may be missing if its tokens exist. Throws Error as TextSource, load_token_file(), and for
// tokens of another tokenizer.
TextTokens text_tokens(TrainingPlan& plan, const std::optional<Tokenizer>& tokenizer, bool resumed);

}  // namespace sextant
