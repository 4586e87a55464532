// Implements what training, files and use of a tokenizer share: its special tokens and its
// splitting.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::text {

constexpr std::array<const char*, 4> kSpecialTokens = {"<pad>", "<bos>", "<eos>", "<unk>"};

// Where words end: the rules of split_words(), by their version. Files of tokenizers name it.
constexpr auto kWordRules = "sextant 1";

// Our models have <unk>, <s>, </s>, [EOS] and [PAD] as pieces 0 .. 4. Here these five numbers are
// the special tokens and the line break, and the following pieces keep theirs.
constexpr std::int64_t kSubwordLineBreak = 4;

// Valid UTF-8 as its code points.
std::vector<std::string> characters(std::string_view text);

// Splits valid UTF-8 into words at white space or also at punctuation; each "\n" is a separate word
// if `keep_lines`.
std::vector<std::string> words(std::string_view text, bool split_punctuation, bool keep_lines);

// Calls visit(line, is it the first) for each of the texts between "\n"s.
template <class Visit>
void for_each_line(std::string_view text, Visit visit) {
  bool is_first = true;
  for (std::size_t begin = 0;; is_first = false) {
    const std::size_t end = text.find('\n', begin);
    visit(text.substr(begin, end - begin), is_first);
    if (end == std::string_view::npos) return;
    begin = end + 1;
  }
}

}  // namespace sextant::text
