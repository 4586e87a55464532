// Texts in pieces: the same text, the same errors and the same tokens as of the whole.
#include "text/files/text_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "sextant/core/files.h"
#include "sextant/text/pairs.h"
#include "sextant/text/tokenizer.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace sextant::text {
namespace {

using ::testing::HasSubstr;

class TextFiles : public ::testing::Test {
 protected:
  TextFile of(std::string_view bytes) const {
    write_file(path_, bytes);
    return TextFile(path_);
  }
  static std::vector<std::string> pieces(const TextFile& file, LongLines lines, std::uint64_t begin,
                                         std::uint64_t end) {
    std::vector<std::string> all;
    file.read(begin, end, lines, [&](std::string_view piece) { all.emplace_back(piece); });
    return all;
  }
  static std::string joined(const std::vector<std::string>& pieces) {
    std::string text;
    for (const std::string& piece : pieces) text += piece;
    return text;
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_ / "text_file.txt";
};

// Lines of all lengths, words of all scripts, line breaks of both kinds.
std::string long_text(std::size_t least, std::string_view line_end) {
  std::string text;
  for (int line = 0; text.size() < least; ++line) {
    for (int word = 0; word <= line % 23; ++word) {
      text += (word > 0 ? " " : "");
      text +=
          (word + line) % 7 == 0 ? "stra\u00dfe\u03a3" : "Word" + std::to_string(word * line % 11);
      if ((word + line) % 5 == 0) text += ", \u2603!";
    }
    text += line_end;
  }
  return text;
}

TEST_F(TextFiles, AnyPartIsThatOfTheText) {
  for (const std::string_view mark : {"", "\uFEFF"}) {
    for (const std::string_view line_end : {"\n", "\r\n", "\r", "\r\r\n"}) {
      const std::string bytes = std::string(mark) + long_text(300'000, line_end) + "last\r";
      const TextFile file = of(bytes);
      const std::string wanted = load_texts(path_).front();
      ASSERT_EQ(file.size(), wanted.size());
      EXPECT_EQ(file.checksum(), checksum_of(bytes));
      EXPECT_EQ(joined(pieces(file, LongLines::split, 0, file.size())), wanted);
      for (const std::uint64_t begin : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{65535},
                                        std::uint64_t{65536}, std::uint64_t{131073}}) {
        for (const std::uint64_t end : {begin, begin + 1, begin + 100'000, file.size()}) {
          EXPECT_EQ(joined(pieces(file, LongLines::split, begin, end)),
                    wanted.substr(begin, end - begin))
              << begin << " " << end;
        }
      }
    }
  }
}

TEST_F(TextFiles, PiecesEndAfterLinesOrSpaces) {
  const TextFile lines = of(long_text(400'000, "\n"));
  const auto whole = pieces(lines, LongLines::whole, 0, lines.size());
  ASSERT_GT(whole.size(), 3u);
  for (const std::string& piece : whole) {
    EXPECT_EQ(piece.back(), '\n');
    EXPECT_LT(piece.size(), 200'000u);
  }
  const TextFile line = of(long_text(400'000, " "));
  EXPECT_EQ(pieces(line, LongLines::whole, 0, line.size()).size(), 1u);
  const auto split = pieces(line, LongLines::split, 0, line.size());
  ASSERT_GT(split.size(), 3u);
  for (const std::string& piece : split) EXPECT_EQ(piece.back(), ' ');
}

TEST_F(TextFiles, TokensAreThoseOfTheWhole) {
  for (const std::string_view line_end : {"\n", " "}) {
    const TextFile file = of(long_text(300'000, line_end));
    const std::string text = load_texts(path_).front();
    for (const bool lower : {false, true}) {
      for (const TokenizerKind kind :
           {TokenizerKind::word, TokenizerKind::character, TokenizerKind::subword}) {
        for (const bool punctuation : {false, true}) {
          const Tokenizer tokenizer = Tokenizer::train(
              std::vector<std::string>{text.substr(0, text.find_last_of(" \n", 5000))},
              {.kind = kind,
               .lower_case = lower,
               .split_punctuation = punctuation,
               .vocabulary_size = kind == TokenizerKind::subword ? 60 : 0});
          std::vector<std::int64_t> ids;
          file.read(0, file.size(),
                    kind == TokenizerKind::subword ? LongLines::whole : LongLines::split,
                    [&](std::string_view piece) {
                      const auto more = tokenizer.encode(piece);
                      ids.insert(ids.end(), more.begin(), more.end());
                    });
          EXPECT_EQ(ids, tokenizer.encode(text)) << name_of(kind) << lower << punctuation;
        }
      }
    }
  }
}

TEST_F(TextFiles, ErrorsAreThoseOfTheWhole) {
  const std::string lines = long_text(200'000, "\n");
  const std::string line = long_text(200'000, " ");
  for (const std::string& bytes :
       {std::string(), std::string("\uFEFF"), std::string(" \n\t\r\n"),
        lines + "ab\xff"
                "c\n",
        lines + line + "\xe2\x98", line + "\xc3(" + line, lines + "\xed\xa0\x80\n"}) {
    write_file(path_, bytes);
    const std::string wanted = error_of([&] { load_texts(path_); });
    ASSERT_NE(wanted, "");
    EXPECT_EQ(error_of([&] { TextFile file(path_); }), wanted);
  }
  EXPECT_EQ(error_of([&] { TextFile file(path_ + "x"); }),
            error_of([&] { load_texts(path_ + "x"); }));
  EXPECT_EQ(error_of([&] { TextFile file(testing::TempDir()); }),
            error_of([&] { load_texts(testing::TempDir()); }));
}

TEST_F(TextFiles, ACharacterOnTheBorderOfTwoReadsIsWhole) {
  for (std::size_t before = 65530; before < 65540; ++before) {
    const std::string text = std::string(before, 'a') + "\U0001F600\u2603\u00e9 b\r\nc";
    const TextFile file = of(text);
    EXPECT_EQ(joined(pieces(file, LongLines::split, 0, file.size())), load_texts(path_).front());
  }
}

TEST_F(TextFiles, AChangeIsSeen) {
  const TextFile file = of("one\ntwo\n");
  write_file(path_, "one\ntwo\nthree\n");
  EXPECT_THAT(error_of([&] { pieces(file, LongLines::split, 0, file.size()); }),
              HasSubstr("must stay the same while it is read"));
}

}  // namespace
}  // namespace sextant::text
