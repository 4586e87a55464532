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
  // Of a run that is new: takes what was written back unless the run has a checkpoint by then.
  std::shared_ptr<const void> kept{};
};

// Of settings.files, texts or a file of tokens, by a tokenizer that is there, or the one that their
// training part makes. In plan.trainer.folder the tokens and the tokenizer are looked for in
// FOLDER/data, and written there by the first of a group. `resumed`: a run goes on, whose texts may
// be gone if its tokens are there. Throws Error as TextSource, load_token_file(), and for tokens of
// another tokenizer.
TextTokens text_tokens(TrainingPlan& plan, const std::optional<Tokenizer>& tokenizer, bool resumed);

}  // namespace sextant
