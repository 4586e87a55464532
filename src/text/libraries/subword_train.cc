// Trains SentencePiece models in memory. The trainer ends the process for texts that it does not
// expect, so the text is brought into a form that it does.
#include <sentencepiece_trainer.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <string>
#include <unordered_map>
#include <utility>

#include "core/threads/left_running.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/core/numbers.h"
#include "sextant/text/segment.h"
#include "sextant/text/subword.h"
#include "text/libraries/subword_library.h"

namespace sextant {
namespace {

// Positions inside a word are 16-bit numbers in the byte-pair trainer, and normalisation makes up
// to 18 characters of one.
constexpr std::size_t kLongestWord = 2000;  // bytes

// Returns whether the trainer's normalisation keeps a character; a line without any would become
// empty, which ends the trainer. U+2581 and U+FFFD count as spaces there.
bool is_visible(UChar32 c) { return u_isgraph(c) && c != 0x2581 && c != 0xFFFD; }

// Lines with something to see, words cut to kLongestWord.
std::vector<std::string> training_lines(std::string_view text) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  std::vector<std::string> lines;
  std::string line;
  std::size_t word = 0;  // bytes since the last white space
  bool visible = false;
  const auto end_line = [&] {
    if (visible) lines.push_back(line);
    line.clear();
    word = 0;
    visible = false;
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    UChar32 c = 0;
    U8_NEXT_UNSAFE(bytes, at, c);
    if (c == '\n' || c == '\r') {
      end_line();
      continue;
    }
    // U+2585 is the trainer's own sign for rare characters; it would skip the whole line.
    const bool is_space = u_isUWhiteSpace(c) || c == 0 || c == 0x2581 || c == 0x2585;
    word = is_space ? 0 : word + at - begin;
    if (word > kLongestWord) {
      line += ' ';
      word = at - begin;
    }
    if (is_space) {
      line += ' ';
    } else {
      line += text.substr(begin, at - begin);
      visible = visible || is_visible(c);
    }
  }
  end_line();
  return lines;
}

class Lines : public sentencepiece::SentenceIterator {
 public:
  explicit Lines(std::vector<std::string> lines) : lines_(std::move(lines)) {}
  bool done() const override { return at_ == lines_.size(); }
  void Next() override { ++at_; }
  const std::string& value() const override { return lines_[at_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string> lines_;
  std::size_t at_ = 0;
};

const char* model_type(SubwordKind kind) {
  switch (kind) {
    case SubwordKind::unigram:
      return "unigram";
    case SubwordKind::bpe:
      return "bpe";
    case SubwordKind::word:
      return "word";
    case SubwordKind::character:
      return "char";
  }
  throw Error("subword.kind", "must be unigram, bpe, word or character");
}

void check_options(const SubwordTraining& options) {
  if (options.vocabulary_size < 8 || options.vocabulary_size > 1'000'000) {
    throw Error("subword.vocabulary_size",
                "must be in 8 .. 1000000, got " + std::to_string(options.vocabulary_size));
  }
  if (!(options.character_coverage >= 0.98 && options.character_coverage <= 1)) {
    throw Error("subword.character_coverage",
                "must be in 0.98 .. 1, got " + shortest(options.character_coverage));
  }
}

}  // namespace

SubwordTokenizer SubwordTokenizer::train(const std::string& text_path,
                                         const SubwordTraining& options) {
  check_options(options);
  return train_on(read_file(text_path, kLongestSubwordText), options, text_path);
}

SubwordTokenizer SubwordTokenizer::train_on(std::string_view text, const SubwordTraining& options,
                                            std::string_view where) {
  check_options(options);
  const char* type = model_type(options.kind);
  if (text.size() > kLongestSubwordText) {
    throw Error(where, "must be at most 268435456 bytes long, got " + std::to_string(text.size()));
  }
  check_utf8(text, where);
  std::vector<std::string> lines = training_lines(text);
  if (lines.empty()) throw Error(where, "must hold text to train on, got no visible character");

  const std::unordered_map<std::string, std::string> settings = {
      {"model_type", type},
      {"vocab_size", std::to_string(options.vocabulary_size)},
      {"character_coverage", shortest(options.character_coverage)},
      {"control_symbols", "[EOS],[PAD]"},
      {"hard_vocab_limit", "false"},
      {"max_sentence_length", "1073741824"},  // the library's largest; longer lines are skipped
      {"num_threads", "1"},
      {"minloglevel", "3"},
  };
  text::silence_sentencepiece();
  return parse(or_left_running([settings, iterator = Lines(std::move(lines))]() mutable {
                 std::string model;
                 const auto status =
                     sentencepiece::SentencePieceTrainer::Train(settings, &iterator, &model);
                 if (status.ok()) return model;
                 throw Error("subword.train", "SentencePiece reports: " + text::complaint(status));
               }),
               "subword.train");
}

}  // namespace sextant
