// BPE: the pair of lowest rank is merged first, from a heap: n log n in the length of a part.
#include <algorithm>
#include <queue>
#include <string>
#include <unordered_map>

#include "core/text/utf8.h"
#include "sextant/core/error.h"
#include "sextant/core/printable.h"
#include "text/pretrained/models/piece_model.h"

namespace sextant::text {
namespace {

struct Merge {
  std::uint32_t rank;
  std::uint32_t id;  // the resulting id
};

struct Symbol {
  std::uint32_t id;
  std::int64_t before;
  std::int64_t after;
  std::size_t bytes;  // 0: merged into the one before
};

struct Candidate {
  std::uint32_t rank;
  std::uint32_t id;
  std::int64_t at;
  bool operator<(const Candidate& other) const {  // the largest of a heap comes first
    return rank != other.rank ? rank > other.rank : at > other.at;
  }
};

std::uint64_t key(std::uint32_t a, std::uint32_t b) { return std::uint64_t{a} << 32 | b; }

class BytePairs : public PieceModel {
 public:
  explicit BytePairs(const Field& field);
  void encode(std::string_view part, std::vector<Piece>& pieces) const override;

 private:
  std::uint32_t known(std::string_view token, const Field& place) const;
  std::vector<Symbol> symbols_of(std::string_view part) const;
  void merge(std::vector<Symbol>& symbols) const;
  const Merge* find(std::uint32_t a, std::uint32_t b) const {
    const auto found = merges_.find(key(a, b));
    return found == merges_.end() ? nullptr : &found->second;
  }

  std::unordered_map<std::uint64_t, Merge> merges_;
  std::string prefix_;
  std::string suffix_;
  std::optional<std::uint32_t> unknown_;
  bool fuse_unknown_ = false;
  bool ignore_merges_ = false;
  ByteFallback bytes_;
};

BytePairs::BytePairs(const Field& field) {
  field.allow_keys({"type", "dropout", "unk_token", "continuing_subword_prefix",
                    "end_of_word_suffix", "fuse_unk", "byte_fallback", "ignore_merges", "vocab",
                    "merges"});
  if (field.has("dropout")) {
    const Field dropout = field["dropout"];
    const Json& rate = dropout.json();
    if (!rate.is_number() || rate.get<double>() != 0) dropout.refuse("null or 0");
  }
  const auto text = [&](std::string_view key) {
    return field.has(key) ? field.text(key) : std::string();
  };
  prefix_ = text("continuing_subword_prefix");
  suffix_ = text("end_of_word_suffix");
  fuse_unknown_ = field.flag("fuse_unk", false);
  ignore_merges_ = field.flag("ignore_merges", false);
  vocabulary_ = VocabularyTable::read(field["vocab"]);
  if (field.flag("byte_fallback", false)) bytes_ = ByteFallback(vocabulary_);
  if (field.has("unk_token")) unknown_ = known(field.text("unk_token"), field["unk_token"]);

  std::uint32_t rank = 0;
  field["merges"].each_element([&](const Field& each) {
    std::string_view a;
    std::string_view b;
    if (each.json().is_array()) {
      const Json& both = each.json();
      if (both.size() != 2 || !both[0].is_string() || !both[1].is_string()) {
        each.refuse("two tokens");
      }
      a = both[0].text();
      b = both[1].text();
    } else {
      const std::string_view both = each.text();
      const std::size_t space = both.find(' ');
      if (space == both.npos || both.find(' ', space + 1) != both.npos) {
        each.refuse("two tokens with one space between them");
      }
      a = both.substr(0, space);
      b = both.substr(space + 1);
    }
    if (b.size() < prefix_.size()) each.refuse("a second token that has the prefix");
    const std::string made = std::string(a) + std::string(b.substr(prefix_.size()));
    const Merge merge{rank++, known(made, each)};
    merges_[key(known(a, each), known(b, each))] = merge;
  });
}

std::uint32_t BytePairs::known(std::string_view token, const Field& place) const {
  if (const auto id = vocabulary_.find(token)) return *id;
  throw Error(place.file(), "must have tokens of the vocabulary as " + place.place() + ", got " +
                                printable_quote(token));
}

// One a character; those that are no token are unknown or bytes.
std::vector<Symbol> BytePairs::symbols_of(std::string_view part) const {
  std::vector<Symbol> symbols;
  symbols.reserve(part.size());
  const auto add = [&](std::uint32_t id, std::size_t bytes) {
    const auto at = static_cast<std::int64_t>(symbols.size());
    if (at > 0) symbols.back().after = at;
    symbols.push_back({id, at - 1, -1, bytes});
  };
  std::size_t unknown = 0;  // bytes that wait to be added
  const auto add_unknown = [&] {
    if (unknown > 0) add(*unknown_, unknown);
    unknown = 0;
  };
  std::string spelled;
  for (std::size_t at = 0; at < part.size();) {
    const std::size_t bytes = first_character(part.substr(at)).bytes;
    std::string_view character = part.substr(at, bytes);
    const bool last = at + bytes == part.size();
    if ((at > 0 && !prefix_.empty()) || (last && !suffix_.empty())) {
      spelled = at > 0 ? prefix_ : "";
      spelled += character;
      if (last) spelled += suffix_;
      character = spelled;
    }
    at += bytes;
    if (const auto id = vocabulary_.find(character)) {
      add_unknown();
      add(*id, bytes);
    } else if (bytes_.has_all(character)) {
      // As in tokenizers, unknown bytes before them come after them.
      for (const char byte : character) add(bytes_.id(byte), 1);
    } else if (unknown_) {
      if (!fuse_unknown_) add_unknown();
      unknown += bytes;
    }
  }
  add_unknown();
  return symbols;
}

void BytePairs::merge(std::vector<Symbol>& symbols) const {
  std::vector<Candidate> first;
  const auto candidate = [&](std::int64_t at, auto push) {
    const Symbol& left = symbols[static_cast<std::size_t>(at)];
    if (left.after < 0) return;
    const Merge* found = find(left.id, symbols[static_cast<std::size_t>(left.after)].id);
    if (found != nullptr) push(Candidate{found->rank, found->id, at});
  };
  for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
    candidate(static_cast<std::int64_t>(i), [&](const Candidate& c) { first.push_back(c); });
  }
  std::priority_queue<Candidate> heap({}, std::move(first));
  while (!heap.empty()) {
    const Candidate best = heap.top();
    heap.pop();
    Symbol& left = symbols[static_cast<std::size_t>(best.at)];
    if (left.bytes == 0 || left.after < 0) continue;
    Symbol& right = symbols[static_cast<std::size_t>(left.after)];
    const Merge* now = find(left.id, right.id);
    if (now == nullptr || now->id != best.id) continue;  // another merge was before
    left.id = best.id;
    left.bytes += right.bytes;
    left.after = right.after;
    right.bytes = 0;
    if (left.after >= 0) symbols[static_cast<std::size_t>(left.after)].before = best.at;
    const auto push = [&](const Candidate& c) { heap.push(c); };
    if (left.before >= 0) candidate(left.before, push);
    candidate(best.at, push);
  }
  std::erase_if(symbols, [](const Symbol& symbol) { return symbol.bytes == 0; });
}

void BytePairs::encode(std::string_view part, std::vector<Piece>& pieces) const {
  if (ignore_merges_) {
    if (const auto id = vocabulary_.find(part)) return pieces.push_back({*id, 0, part.size()});
  }
  std::vector<Symbol> symbols = symbols_of(part);
  merge(symbols);
  std::size_t at = 0;
  for (const Symbol& symbol : symbols) {
    pieces.push_back({symbol.id, at, at + symbol.bytes});
    at += symbol.bytes;
  }
}

}  // namespace

std::unique_ptr<PieceModel> read_byte_pairs(const Field& field) {
  return std::make_unique<BytePairs>(field);
}

}  // namespace sextant::text
