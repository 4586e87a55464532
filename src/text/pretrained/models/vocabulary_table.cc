// Stores vocabularies in hash tables as large as the file, for any ids.
#include "text/pretrained/models/vocabulary_table.h"

#include <algorithm>

#include "sextant/core/error.h"
#include "sextant/core/printable.h"

namespace sextant::text {

VocabularyTable VocabularyTable::read(const Field& field) {
  VocabularyTable table;
  if (!field.json().is_object()) field.refuse("an object of tokens and ids");
  table.ids_.reserve(field.json().size());
  table.tokens_.reserve(field.json().size());
  for (const auto& [token, id] : field.json().items()) {
    const Field place(id, field.file(), field.place() + "[" + printable_quote(token) + "]");
    table.add(token, place.number(), place);
  }
  return table;
}

void VocabularyTable::add(std::string token, std::uint32_t id, const Field& place) {
  const auto [entry, is_new] = ids_.emplace(std::move(token), id);
  if (!is_new) {
    throw Error(place.file(), "must have each token once, got " + printable_quote(entry->first) +
                                  " again as " + place.place());
  }
  const auto [other, is_free] = tokens_.emplace(id, &entry->first);
  if (!is_free) {
    throw Error(place.file(), "must have each id once, got " + std::to_string(id) + " of " +
                                  printable_quote(*other->second) + " again as " + place.place());
  }
  size_ = std::max(size_, std::int64_t{id} + 1);
  longest_ = std::max(longest_, entry->first.size());
}

std::optional<std::uint32_t> VocabularyTable::find(std::string_view token) const {
  const auto found = ids_.find(token);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

const std::string* VocabularyTable::token(std::uint32_t id) const {
  const auto found = tokens_.find(id);
  return found == tokens_.end() ? nullptr : found->second;
}

bool VocabularyTable::has_beginning(std::string_view text) const {
  return std::ranges::any_of(ids_, [text](const auto& each) {
    return each.first.size() > text.size() && each.first.starts_with(text);
  });
}

}  // namespace sextant::text
