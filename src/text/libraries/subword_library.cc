// The log level can be set through the options of a training only, so one is begun that ends at
// once because it has no text.
#include "text/libraries/subword_library.h"

#include <sentencepiece_trainer.h>

namespace sextant::text {

void silence_sentencepiece() {
  [[maybe_unused]] static const bool silent = [] {
    constexpr auto kFatalOnly = "3";
    sentencepiece::SentencePieceTrainer::Train({{"minloglevel", kFatalOnly}}).IgnoreError();
    return true;
  }();
}

std::string complaint(const sentencepiece::util::Status& status) {
  std::string message = status.message();
  if (const std::size_t end = message.rfind("] "); end != std::string::npos) {
    message.erase(0, end + 2);
  }
  for (char& c : message) {
    if (c == '\n') c = ' ';
  }
  return message.empty() ? "SentencePiece gives no reason" : message;
}

}  // namespace sextant::text
