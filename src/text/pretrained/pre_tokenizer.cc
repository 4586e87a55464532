// Each type as one or two steps: a change of the text, a splitting.
#include "text/pretrained/pre_tokenizer.h"

#include <string>

#include "text/pretrained/byte_level.h"
#include "text/pretrained/characters.h"
#include "text/pretrained/patterns/pattern.h"
#include "text/pretrained/split.h"

namespace sextant::text {
namespace {

constexpr std::string_view kGpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// Rebuilds the text, part by part; `write` appends the result of one.
template <class Write>
void rewrite(Parts& parts, Write write) {
  AlignedText text;
  for (Part& part : parts.parts) {
    const std::size_t begin = text.text().size();
    if (part.added >= 0) {
      text.append(parts.text, part.begin, part.end);
    } else {
      write(text, parts.text, part);
    }
    part = {begin, text.text().size(), part.added};
  }
  parts.text = std::move(text);
}

void split_by(Parts& parts, bool (*condition)(char32_t), Behavior behavior) {
  split(
      parts, [&](std::string_view text) { return find_characters(text, condition); }, behavior);
}

void split_by(Parts& parts, const Pattern& pattern, Behavior behavior, bool invert) {
  Pattern::Finder finder(pattern);
  split(
      parts, [&](std::string_view text) { return finder.find(text); }, behavior, invert);
}

// Returns words, and runs of characters that are neither word nor space: \w+|[^\w\s]+
std::vector<Stretch> words_and_marks(std::string_view text) {
  const auto kind = [](char32_t c) { return is_word(c) ? 1 : is_space(c) ? 0 : 2; };
  std::vector<Stretch> all;
  int before = -1;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const int now = kind(next_character(text, at));
    if (now == before) {
      all.back().end = at;
    } else {
      all.push_back({begin, at, now == 0});
    }
    before = now;
  }
  return all;
}

void add_prefix(Parts& parts, std::string_view prefix) {
  rewrite(parts, [&](AlignedText& to, const AlignedText& from, const Part& part) {
    const bool has =
        std::string_view(from.text()).substr(part.begin, part.end - part.begin).starts_with(prefix);
    if (!has && part.begin < part.end) to.append(prefix, from.origin()[part.begin]);
    to.append(from, part.begin, part.end);
  });
}

}  // namespace

PreTokenizer PreTokenizer::read(const Field& field) {
  PreTokenizer made;
  made.add(field);
  return made;
}

void PreTokenizer::add(const Field& field) {
  const auto step = [this](auto function) { steps_.emplace_back(std::move(function)); };
  switch (field["type"].choice({"BertPreTokenizer", "ByteLevel", "Whitespace", "WhitespaceSplit",
                                "Punctuation", "Digits", "Split", "Metaspace", "CharDelimiterSplit",
                                "Sequence"})) {
    case 0:
      field.allow_keys({"type"});
      return step([](Parts& parts) {
        split_by(parts, is_space, Behavior::removed);
        split_by(parts, is_punctuation, Behavior::isolated);
      });
    case 1:
      return add_byte_level(field);
    case 2:
      field.allow_keys({"type"});
      return step([](Parts& parts) { split(parts, words_and_marks, Behavior::removed); });
    case 3:
      field.allow_keys({"type"});
      return step([](Parts& parts) { split_by(parts, is_space, Behavior::removed); });
    case 4: {
      field.allow_keys({"type", "behavior"});
      const Behavior behavior =
          field.has("behavior") ? read_behavior(field["behavior"]) : Behavior::isolated;
      return step([behavior](Parts& parts) { split_by(parts, is_punctuation, behavior); });
    }
    case 5: {
      field.allow_keys({"type", "individual_digits"});
      const Behavior behavior =
          field.flag("individual_digits") ? Behavior::isolated : Behavior::contiguous;
      return step([behavior](Parts& parts) { split_by(parts, is_numeric, behavior); });
    }
    case 6: {
      field.allow_keys({"type", "pattern", "behavior", "invert"});
      const Pattern pattern = Pattern::read(field["pattern"]);
      const Behavior behavior = read_behavior(field["behavior"]);
      const bool invert = field.flag("invert");
      return step([pattern, behavior, invert](Parts& parts) {
        split_by(parts, pattern, behavior, invert);
      });
    }
    case 7:
      return add_metaspace(field);
    case 8: {
      field.allow_keys({"type", "delimiter"});
      const Pattern pattern = Pattern::literal(field.text("delimiter"));
      if (count_characters(field.text("delimiter")) != 1) field["delimiter"].refuse("a character");
      return step([pattern](Parts& parts) { split_by(parts, pattern, Behavior::removed, false); });
    }
    default:
      field.allow_keys({"type", "pretokenizers"});
      for (const Field& each : field["pretokenizers"].elements()) add(each);
  }
}

void PreTokenizer::add_byte_level(const Field& field) {
  field.allow_keys({"type", "add_prefix_space", "trim_offsets", "use_regex"});
  field.flag("trim_offsets");  // of the post-processor of this name
  if (field.flag("add_prefix_space")) {
    steps_.emplace_back([](Parts& parts) { add_prefix(parts, " "); });
  }
  if (field.flag("use_regex", true)) {
    steps_.emplace_back([pattern = Pattern::regex(kGpt2, field)](Parts& parts) {
      split_by(parts, pattern, Behavior::isolated, false);
    });
  }
  steps_.emplace_back([](Parts& parts) {
    rewrite(parts, [](AlignedText& to, const AlignedText& from, const Part& part) {
      append_byte_level(to, from, part.begin, part.end);
    });
  });
}

void PreTokenizer::add_metaspace(const Field& field) {
  field.allow_keys(
      {"type", "replacement", "add_prefix_space", "prepend_scheme", "split", "str_rep"});
  const std::string mark = field.text("replacement");
  if (count_characters(mark) != 1) field["replacement"].refuse("a character");
  enum { kAlways, kNever, kFirst };
  std::size_t scheme = kAlways;
  if (field.has("prepend_scheme")) {
    scheme = field["prepend_scheme"].choice({"always", "never", "first"});
  }
  // The older key; files that have both agree.
  if (!field.flag("add_prefix_space", true)) {
    if (field.has("prepend_scheme") && scheme != kNever) {
      field["add_prefix_space"].refuse("true with this prepend_scheme");
    }
    scheme = kNever;
  }
  const bool divide = field.flag("split", true);
  const Pattern pattern = Pattern::literal(mark);
  steps_.emplace_back([mark, pattern, scheme, divide](Parts& parts) {
    rewrite(parts, [&](AlignedText& to, const AlignedText& from, const Part& part) {
      if (part.begin == part.end) return;
      const bool first = from.origin()[part.begin].begin == 0;
      const std::string_view text =
          std::string_view(from.text()).substr(part.begin, part.end - part.begin);
      if (scheme != kNever && (scheme == kAlways || first) && text.front() != ' ' &&
          !text.starts_with(mark)) {
        to.append(mark, from.origin()[part.begin]);
      }
      std::size_t done = part.begin;
      for (std::size_t at = part.begin; at < part.end; ++at) {
        if (from.text()[at] != ' ') continue;
        to.append(from, done, at);
        to.append(mark, from.origin()[at]);
        done = at + 1;
      }
      to.append(from, done, part.end);
    });
    if (divide) split_by(parts, pattern, Behavior::merged_with_next, false);
  });
}

}  // namespace sextant::text
