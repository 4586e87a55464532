// A loaded SentencePiece model with the two special pieces that the systems need.
#include "sextant/text/subword.h"

#include <sentencepiece_processor.h>

#include <limits>

#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/text/segment.h"
#include "text/libraries/subword_library.h"
#include "text/libraries/subword_model.h"

namespace sextant {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 28;
constexpr auto kEos = "[EOS]";
constexpr auto kPad = "[PAD]";

void check(const sentencepiece::util::Status& status, std::string_view where) {
  if (!status.ok()) throw Error(where, "SentencePiece reports: " + text::complaint(status));
}

// Lengths are 32-bit numbers in the library, and normalisation can make a text longer.
void check_subword_text(std::string_view text, std::string_view where) {
  if (text.size() > kMaxBytes) {
    throw Error(where, "must be at most 268435456 bytes long, got " + std::to_string(text.size()));
  }
  check_utf8(text, where);
}

}  // namespace

struct SubwordTokenizer::Impl {
  sentencepiece::SentencePieceProcessor processor;
  std::string bytes;       // as loaded, for save()
  std::int64_t count = 0;  // pieces of the model
  std::int64_t size = 0;   // the same with those added here
  std::int64_t eos = 0;
  std::int64_t pad = 0;

  // The model's control piece of this name, else a new number. A normal piece of the name does not
  // count, because text can produce it.
  std::int64_t find_or_add(const std::string& name) {
    const int found = processor.PieceToId(name);
    if (processor.IsControl(found) && processor.IdToPiece(found) == name) return found;
    return size++;
  }

  void check_index(std::int64_t index) const {
    if (index < 0 || index >= size) {
      throw Error("subword.index",
                  "must be in 0 .. " + std::to_string(size - 1) + ", got " + std::to_string(index));
    }
  }
};

SubwordTokenizer SubwordTokenizer::load(const std::string& path) {
  return parse(read_file(path, kMaxBytes), path);
}

SubwordTokenizer SubwordTokenizer::parse(std::string_view bytes, std::string_view where) {
  if (bytes.size() > kMaxBytes) {
    throw Error(where, "must be at most 268435456 bytes long, got " + std::to_string(bytes.size()));
  }
  const std::string checked = text::checked_model(bytes, where);
  text::silence_sentencepiece();
  auto impl = std::make_shared<Impl>();
  check(impl->processor.LoadFromSerializedProto(checked), where);
  impl->bytes = bytes;
  impl->count = impl->size = impl->processor.GetPieceSize();
  impl->eos = impl->find_or_add(kEos);
  impl->pad = impl->find_or_add(kPad);
  return SubwordTokenizer(std::move(impl));
}

void SubwordTokenizer::save(const std::string& path) const { write_file(path, impl_->bytes); }

const std::string& SubwordTokenizer::bytes() const noexcept { return impl_->bytes; }

std::int64_t SubwordTokenizer::size() const noexcept { return impl_->size; }
std::int64_t SubwordTokenizer::eos() const noexcept { return impl_->eos; }
std::int64_t SubwordTokenizer::pad() const noexcept { return impl_->pad; }

std::vector<std::int64_t> SubwordTokenizer::encode(std::string_view text) const {
  check_subword_text(text, "subword.text");
  std::vector<int> numbers;
  check(impl_->processor.Encode(text, &numbers), "subword.text");
  return {numbers.begin(), numbers.end()};
}

std::vector<std::string> SubwordTokenizer::pieces(std::string_view text) const {
  check_subword_text(text, "subword.text");
  std::vector<std::string> found;
  check(impl_->processor.Encode(text, &found), "subword.text");
  return found;
}

std::string SubwordTokenizer::piece(std::int64_t index) const {
  impl_->check_index(index);
  if (index < impl_->count) return impl_->processor.IdToPiece(static_cast<int>(index));
  return index == impl_->eos ? kEos : kPad;
}

std::string SubwordTokenizer::decode(std::span<const std::int64_t> indices) const {
  std::vector<int> kept;
  kept.reserve(indices.size());
  for (const std::int64_t index : indices) {
    impl_->check_index(index);
    if (index >= impl_->count || impl_->processor.IsControl(static_cast<int>(index))) continue;
    kept.push_back(static_cast<int>(index));
  }
  std::string text;
  check(impl_->processor.Decode(kept, &text), "subword.indices");
  return text;
}

std::vector<std::int64_t> SubwordTokenizer::encode_fixed(std::string_view text,
                                                         std::int64_t length) const {
  if (length < 1) {
    throw Error("subword.length", "must be >= 1, got " + std::to_string(length));
  }
  std::vector<std::int64_t> numbers = encode(text);
  const auto places = static_cast<std::size_t>(length);
  if (numbers.size() >= places) numbers.resize(places - 1);
  numbers.push_back(impl_->eos);
  numbers.resize(places, impl_->pad);
  return numbers;
}

}  // namespace sextant
