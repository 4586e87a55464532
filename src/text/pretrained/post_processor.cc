// Offsets are trimmed before special tokens, which have none, are added: the order makes no
// difference to them.
#include "text/pretrained/post_processor.h"

#include <algorithm>

#include "sextant/core/error.h"
#include "sextant/core/printable.h"
#include "text/pretrained/aligned_text.h"
#include "text/pretrained/byte_level.h"
#include "text/pretrained/characters.h"

namespace sextant::text {
namespace {

bool is_trimmed(char32_t c) { return c == byte_character(' ') || is_space(c); }

// The id of a special token, which must be that of its text.
std::uint32_t checked_id(const Field& id, const std::string& token,
                         const std::function<std::int64_t(std::string_view)>& id_of) {
  const std::int64_t known = id_of(token);
  if (known < 0) {
    throw Error(id.file(), "must have tokens of the vocabulary in " + id.place() + ", got " +
                               printable_quote(token));
  }
  if (id.number() != known)
    id.refuse(std::to_string(known) + ", the id of " + printable_quote(token));
  return id.number();
}

}  // namespace

PostProcessor PostProcessor::read(const Field& field, const IdOf& id_of) {
  PostProcessor made;
  made.add(field, id_of);
  return made;
}

void PostProcessor::add(const Field& field, const IdOf& id_of) {
  const auto type = field["type"].choice(
      {"TemplateProcessing", "BertProcessing", "RobertaProcessing", "ByteLevel", "Sequence"});
  if (type == 4) {
    field.allow_keys({"type", "processors"});
    for (const Field& each : field["processors"].elements()) add(each, id_of);
    return;
  }
  if (type == 3) {
    field.allow_keys({"type", "add_prefix_space", "trim_offsets", "use_regex"});
    const bool prefix_space = field.flag("add_prefix_space");
    field.flag("use_regex", true);  // of the pre-tokenizer of this name
    if (field.flag("trim_offsets")) trims_.push_back({prefix_space});
    return;
  }
  if (has_template_) field["type"].refuse("one template");
  has_template_ = true;
  if (type == 0) {
    field.allow_keys({"type", "single", "pair", "special_tokens"});
    template_ = read_template(field["single"], field["special_tokens"], {"A"}, id_of);
    pair_template_ = read_template(field["pair"], field["special_tokens"], {"A", "B"}, id_of);
    return;
  }
  const bool is_roberta = type == 2;
  if (is_roberta) {
    field.allow_keys({"type", "sep", "cls", "trim_offsets", "add_prefix_space"});
    const bool prefix_space = field.flag("add_prefix_space");
    if (field.flag("trim_offsets")) trims_.push_back({prefix_space});
  } else {
    field.allow_keys({"type", "sep", "cls"});
  }
  // ["[CLS]", 101]
  const auto special = [&](const char* key) -> Item {
    const std::vector<Field> both = field[key].elements();
    if (both.size() != 2) field[key].refuse("a token and its id");
    return {.ids = {checked_id(both[1], both[0].text(), id_of)}};
  };
  const Item cls = special("cls"), sep = special("sep");
  template_ = {cls, {.sequence = true}, sep};
  // RoBERTa has two separators between the texts, and one type.
  pair_template_ = template_;
  if (is_roberta) pair_template_.push_back(sep);
  const std::uint32_t type_of_second = is_roberta ? 0 : 1;
  pair_template_.push_back({.sequence = true, .second = true, .type = type_of_second});
  pair_template_.push_back({.type = type_of_second, .ids = sep.ids});
}

std::vector<PostProcessor::Item> PostProcessor::read_template(
    const Field& items, const Field& special_tokens,
    std::initializer_list<std::string_view> sequences, const IdOf& id_of) {
  std::vector<Item> made;
  for (const Field& each : items.elements()) {
    each.allow_keys({"SpecialToken", "Sequence"});
    if (each.json().size() != 1) each.refuse("one of SpecialToken and Sequence");
    const bool sequence = each.has("Sequence");
    const Field item = each[sequence ? "Sequence" : "SpecialToken"];
    item.allow_keys({"id", "type_id"});
    Item read{.sequence = sequence, .type = item["type_id"].number()};
    if (sequence) {
      read.second = item["id"].choice(sequences) == 1;
      const bool again = std::ranges::any_of(
          made, [&](const Item& other) { return other.sequence && other.second == read.second; });
      if (again) each.refuse("one Sequence");
    } else {
      const Field special = special_tokens[item.text("id")];
      special.allow_keys({"id", "ids", "tokens"});
      const std::vector<Field> ids = special["ids"].elements();
      const std::vector<Field> tokens = special["tokens"].elements();
      if (ids.size() != tokens.size()) special["ids"].refuse("as many ids as tokens");
      for (std::size_t i = 0; i < ids.size(); ++i) {
        read.ids.push_back(checked_id(ids[i], tokens[i].text(), id_of));
      }
    }
    made.push_back(std::move(read));
  }
  return made;
}

std::size_t PostProcessor::added() const {
  std::size_t count = 0;
  for (const Item& item : template_) count += item.ids.size();
  return count;
}

void PostProcessor::apply(std::vector<Token>& tokens, std::string_view text,
                          bool add_special_tokens) const {
  for (const Trim& each : trims_) trim(tokens, text, each);
  if (has_template_) tokens = filled(template_, tokens, {}, add_special_tokens);
}

std::vector<Token> PostProcessor::join(std::vector<Token> first, std::string_view text,
                                       std::vector<Token> second, std::string_view second_text,
                                       bool add_special_tokens) const {
  for (const Trim& each : trims_) {
    trim(first, text, each);
    trim(second, second_text, each);
  }
  // What tokenizers does without a template.
  static const std::vector<Item> kBoth = {{.sequence = true},
                                          {.sequence = true, .second = true, .type = 1}};
  const std::vector<Item>& items = has_template_ ? pair_template_ : kBoth;
  if (std::ranges::count(items, true, &Item::sequence) != 2) {
    throw Error("tokenizer.second",
                "must not be given: post_processor.pair of the tokenizer has no place for two "
                "texts");
  }
  return filled(items, first, second, add_special_tokens);
}

std::vector<Token> PostProcessor::filled(const std::vector<Item>& items,
                                         const std::vector<Token>& first,
                                         const std::vector<Token>& second,
                                         bool add_special_tokens) {
  std::vector<Token> all;
  for (const Item& item : items) {
    if (item.sequence) {
      for (Token token : item.second ? second : first) {
        token.type = item.type;
        all.push_back(token);
      }
    } else if (add_special_tokens) {
      for (const std::uint32_t id : item.ids) all.push_back({.id = id, .type = item.type});
    }
  }
  return all;
}

// Without the spaces that a token begins or ends with. tokenizers counts characters of the token
// and takes as many of the text away.
void PostProcessor::trim(std::vector<Token>& tokens, std::string_view text,
                         const Trim& trim) const {
  for (Token& token : tokens) {
    const std::string_view spelled = token.spelled;
    std::size_t leading = 0;
    for (std::size_t at = 0; at < spelled.size() && is_trimmed(next_character(spelled, at));) {
      ++leading;
    }
    std::size_t trailing = 0;
    for (std::size_t at = spelled.size(); at > 0 && is_trimmed(previous_character(spelled, at));) {
      ++trailing;
    }
    const bool first = &token == tokens.data() || token.begin == 0;
    // The space that add_prefix_space has put there is not in the text.
    if (first && trim.prefix_space && leading == 1) leading = 0;
    std::size_t begin = token.begin;
    for (; leading > 0 && begin < token.end; --leading) next_character(text, begin);
    token.begin = static_cast<std::uint32_t>(begin);
    std::size_t end = token.end;
    std::size_t left = trailing;
    for (; left > 0 && end > 0; --left) previous_character(text, end);
    if (left == 0) {  // else there are fewer characters in the text before it
      token.end = static_cast<std::uint32_t>(std::max<std::size_t>(end, token.begin));
    }
  }
}

}  // namespace sextant::text
