// Decodes tokens: each type changes the list of tokens, which are joined at the end.
#include "text/pretrained/decoder.h"

#include <array>
#include <string_view>
#include <utility>

#include "core/text/strings.h"
#include "core/text/utf8.h"
#include "sextant/core/error.h"
#include "text/pretrained/byte_level.h"
#include "text/pretrained/patterns/pattern.h"

namespace sextant::text {
namespace {

using Tokens = std::vector<std::string>;

// The bytes that begin a character, as many as may be one that was cut.
std::size_t broken_character(std::string_view bytes) {
  const auto byte = [bytes](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0xc2 || lead > 0xf4 || bytes.size() < 2) return 1;
  // The second byte of these is in a part of the range.
  const unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < low || byte(1) > high) return 1;
  return lead >= 0xf0 && bytes.size() > 2 && continues_character(bytes[2]) ? 3 : 2;
}

// Bytes that are no character become U+FFFD: one for the bytes of a character that was cut.
std::string repaired(std::string_view bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::string_view rest = bytes.substr(at);
    const Utf8Character c = first_character(rest);
    text += c.valid ? rest.substr(0, c.bytes) : "\uFFFD";
    at += c.valid ? c.bytes : broken_character(rest);
  }
  return text;
}

std::string without_spaces_of_tokens(std::string text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kRules = {{
      {" .", "."},
      {" ?", "?"},
      {" !", "!"},
      {" ,", ","},
      {" ' ", "'"},
      {" n't", "n't"},
      {" 'm", "'m"},
      {" do not", " don't"},
      {" 's", "'s"},
      {" 've", "'ve"},
      {" 're", "'re"},
  }};
  for (const auto& [from, to] : kRules) text = replaced(text, from, to);
  return text;
}

void word_pieces(Tokens& tokens, const std::string& prefix, bool cleanup) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0) {
      if (tokens[i].starts_with(prefix)) {
        tokens[i].erase(0, prefix.size());
      } else {
        tokens[i].insert(0, " ");
      }
    }
    if (cleanup) tokens[i] = without_spaces_of_tokens(tokens[i]);
  }
}

void byte_level(Tokens& tokens) {
  std::string bytes;
  for (const std::string& token : tokens) bytes += bytes_of(token).value_or(token);
  tokens = {repaired(bytes)};
}

// "<0x41>" is a byte; a run of them that is no text is one U+FFFD a byte.
void byte_fallback(Tokens& tokens) {
  Tokens made;
  std::string bytes;
  const auto finish = [&] {
    if (bytes.empty()) return;
    if (find_invalid_utf8(bytes) == std::string_view::npos) {
      made.push_back(bytes);
    } else {
      made.insert(made.end(), bytes.size(), "\uFFFD");
    }
    bytes.clear();
  };
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
  };
  for (std::string& token : tokens) {
    if (token.size() == 6 && token.starts_with("<0x") && token[5] == '>' && digit(token[3]) >= 0 &&
        digit(token[4]) >= 0) {
      bytes += static_cast<char>(digit(token[3]) * 16 + digit(token[4]));
    } else {
      finish();
      made.push_back(std::move(token));
    }
  }
  finish();
  tokens = std::move(made);
}

void metaspace(Tokens& tokens, const std::string& mark, bool drop_first) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i == 0 && drop_first) {
      // Every mark of the first token goes, as in tokenizers.
      tokens[i] = replaced(tokens[i], mark, "");
    } else {
      tokens[i] = replaced(tokens[i], mark, " ");
    }
  }
}

void strip(std::string& token, const std::string& content, std::size_t start, std::size_t stop) {
  std::size_t begin = 0;
  for (; start > 0 && std::string_view(token).substr(begin).starts_with(content); --start) {
    begin += content.size();
  }
  std::size_t end = token.size();
  for (; stop > 0 && end >= begin + content.size() &&
         std::string_view(token).substr(begin, end - begin).ends_with(content);
       --stop) {
    end -= content.size();
  }
  token = token.substr(begin, end - begin);
}

}  // namespace

Decoder Decoder::read(const Field& field) {
  Decoder made;
  made.add(field);
  return made;
}

void Decoder::add(const Field& field) {
  joins_ = true;
  const auto step = [this](auto function) { steps_.emplace_back(std::move(function)); };
  switch (field["type"].choice({"WordPiece", "ByteLevel", "Metaspace", "BPEDecoder", "ByteFallback",
                                "Fuse", "Strip", "Replace", "Sequence"})) {
    case 0: {
      field.allow_keys({"type", "prefix", "cleanup"});
      return step([prefix = field.text("prefix"), cleanup = field.flag("cleanup")](Tokens& tokens) {
        word_pieces(tokens, prefix, cleanup);
      });
    }
    case 1:
      field.allow_keys({"type", "add_prefix_space", "trim_offsets", "use_regex"});
      is_byte_level_ = true;
      return step(byte_level);
    case 2: {
      field.allow_keys(
          {"type", "replacement", "add_prefix_space", "prepend_scheme", "split", "str_rep"});
      const std::string mark = field.text("replacement");
      if (count_characters(mark) != 1) field["replacement"].refuse("a character");
      bool drop = field.flag("add_prefix_space", true);
      if (field.has("prepend_scheme")) {
        drop = field["prepend_scheme"].choice({"always", "never", "first"}) != 1;
      }
      return step([mark, drop](Tokens& tokens) { metaspace(tokens, mark, drop); });
    }
    case 3: {
      field.allow_keys({"type", "suffix"});
      return step([suffix = field.text("suffix")](Tokens& tokens) {
        for (std::size_t i = 0; i < tokens.size(); ++i) {
          tokens[i] = replaced(tokens[i], suffix, i + 1 < tokens.size() ? " " : "");
        }
      });
    }
    case 4:
      field.allow_keys({"type"});
      return step(byte_fallback);
    case 5:
      field.allow_keys({"type"});
      return step([](Tokens& tokens) {
        std::string all;
        for (const std::string& token : tokens) all += token;
        tokens = {all};
      });
    case 6: {
      field.allow_keys({"type", "content", "start", "stop"});
      const std::string content = field.text("content");
      if (count_characters(content) != 1) field["content"].refuse("a character");
      return step([content, start = field["start"].number(),
                   stop = field["stop"].number()](Tokens& tokens) {
        for (std::string& token : tokens) strip(token, content, start, stop);
      });
    }
    case 7: {
      field.allow_keys({"type", "pattern", "content"});
      const Pattern pattern = Pattern::read(field["pattern"]);
      const std::string content = field["content"].replacement();
      if (field["pattern"].has("Regex") && content.find('$') != std::string::npos) {
        field["content"].refuse("text without $");
      }
      return step([pattern, content](Tokens& tokens) {
        Pattern::Finder finder(pattern);
        for (std::string& token : tokens) {
          std::string made;
          for (const Stretch& each : finder.find(token)) {
            made += each.match ? content : token.substr(each.begin, each.end - each.begin);
          }
          token = std::move(made);
        }
      });
    }
    default:
      field.allow_keys({"type", "decoders"});
      for (const Field& each : field["decoders"].elements()) add(each);
  }
}

std::string Decoder::decode(std::vector<std::string> tokens) const {
  const auto bytes = [&tokens] {
    std::size_t sum = 0;
    for (const std::string& token : tokens) sum += token.size();
    return sum;
  };
  constexpr std::size_t kFactor = 64;
  const std::size_t most = kFactor * bytes() + (std::size_t{1} << 16);
  for (const auto& step : steps_) {
    step(tokens);
    if (bytes() <= most) continue;
    throw Error("tokenizer.ids", "become text more than 64 times as long by the decoder");
  }
  std::string text;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0 && !joins_) text += ' ';
    text += tokens[i];
  }
  return text;
}

}  // namespace sextant::text
