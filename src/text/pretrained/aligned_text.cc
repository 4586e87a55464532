// The alignment is that of tokenizers' NormalizedString, so that offsets are the same.
#include "text/pretrained/aligned_text.h"

#include <algorithm>
#include <iterator>

#include "sextant/core/error.h"

namespace sextant::text {

void append_utf8(std::string& text, char32_t c) {
  const auto byte = [&](char32_t value) { text += static_cast<char>(value); };
  if (c < 0x80) return byte(c);
  if (c < 0x800) {
    byte(0xc0 | c >> 6);
  } else {
    if (c < 0x10000) {
      byte(0xe0 | c >> 12);
    } else {
      byte(0xf0 | c >> 18);
      byte(0x80 | (c >> 12 & 0x3f));
    }
    byte(0x80 | (c >> 6 & 0x3f));
  }
  byte(0x80 | (c & 0x3f));
}

AlignedText::AlignedText(std::string_view text, std::uint32_t shift) : text_(text), shift_(shift) {
  origin_.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    next_character(text, at);
    const Origin origin{shift + static_cast<std::uint32_t>(begin),
                        shift + static_cast<std::uint32_t>(at)};
    origin_.insert(origin_.end(), at - begin, origin);
  }
}

bool AlignedText::is_ascii() const noexcept {
  return std::ranges::all_of(text_, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

void AlignedText::transform(std::span<const Change> changes, std::size_t removed) {
  std::string text;
  std::vector<Origin> origin;
  text.reserve(text_.size());
  origin.reserve(origin_.size());
  std::size_t from = 0;  // the first byte without a character so far
  const auto skip = [&](std::size_t characters) {
    for (; characters > 0 && from < text_.size(); --characters) next_character(text_, from);
  };
  skip(removed);
  check_growth(changes.size());
  for (const Change& each : changes) {
    Origin place{shift_, shift_};
    if (each.change <= 0) {
      if (from < origin_.size()) {
        place = origin_[from];
      } else if (!origin_.empty()) {
        place = origin_.back();
      }
      skip(1 + static_cast<std::size_t>(-each.change));
    } else if (from > 0) {
      place = origin_[from - 1];
    }
    append_utf8(text, each.c);
    origin.resize(text.size(), place);
  }
  text_ = std::move(text);
  origin_ = std::move(origin);
}

void AlignedText::check_growth(std::size_t size) const {
  constexpr std::size_t kFactor = 64;
  constexpr std::size_t kFree = 1 << 16;
  const std::size_t given = origin_.empty() ? 0 : origin_.back().end - origin_.front().begin;
  if (size <= kFactor * given + kFree) return;
  throw Error("tokenizer.text",
              "becomes more than 64 times as long by the normalizer of the tokenizer");
}

void AlignedText::prepend(std::string_view prefix) {
  if (text_.empty()) return;
  check_growth(text_.size() + prefix.size());
  const Origin first = origin_.front();
  text_.insert(0, prefix);
  origin_.insert(origin_.begin(), prefix.size(), first);
}

void AlignedText::replace(std::span<const Range> ranges, std::string_view content) {
  check_growth(text_.size() + ranges.size() * content.size());
  AlignedText result;
  std::size_t done = 0;
  for (const Range& range : ranges) {
    result.append(*this, done, range.begin);
    result.append(content, range.end > 0 ? origin_[range.end - 1] : Origin{shift_, shift_});
    done = range.end;
  }
  result.append(*this, done, text_.size());
  text_ = std::move(result.text_);
  origin_ = std::move(result.origin_);
}

void AlignedText::append(const AlignedText& other, std::size_t begin, std::size_t end) {
  text_.append(other.text_, begin, end - begin);
  origin_.insert(origin_.end(), other.origin_.begin() + static_cast<std::ptrdiff_t>(begin),
                 other.origin_.begin() + static_cast<std::ptrdiff_t>(end));
}

void AlignedText::append(std::string_view text, Origin origin) {
  text_ += text;
  origin_.resize(text_.size(), origin);
}

}  // namespace sextant::text
