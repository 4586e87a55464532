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
  if (type == 0) return add_template(field, id_of);
  if (type == 1) {
    field.allow_keys({"type", "sep", "cls"});
  } else {
    field.allow_keys({"type", "sep", "cls", "trim_offsets", "add_prefix_space"});
    const bool prefix_space = field.flag("add_prefix_space");
    if (field.flag("trim_offsets")) trims_.push_back({prefix_space});
  }
  add_pair(field["cls"], id_of);
  template_.push_back({.sequence = true});
  add_pair(field["sep"], id_of);
}

// ["[CLS]", 101]
void PostProcessor::add_pair(const Field& field, const IdOf& id_of) {
  const std::vector<Field> both = field.elements();
  if (both.size() != 2) field.refuse("a token and its id");
  template_.push_back({.ids = {checked_id(both[1], both[0].text(), id_of)}});
}

void PostProcessor::add_template(const Field& field, const IdOf& id_of) {
  field.allow_keys({"type", "single", "pair", "special_tokens"});
  field["pair"].elements();  // for two texts
  for (const Field& each : field["single"].elements()) {
    each.allow_keys({"SpecialToken", "Sequence"});
    if (each.json().size() != 1) each.refuse("one of SpecialToken and Sequence");
    const bool sequence = each.has("Sequence");
    const Field item = each[sequence ? "Sequence" : "SpecialToken"];
    item.allow_keys({"id", "type_id"});
    Item made{.sequence = sequence, .type = item["type_id"].number()};
    if (sequence) {
      item["id"].choice({"A"});
      if (std::ranges::count(template_, true, &Item::sequence) > 0) each.refuse("one Sequence");
    } else {
      const Field special = field["special_tokens"][item.text("id")];
      special.allow_keys({"id", "ids", "tokens"});
      const std::vector<Field> ids = special["ids"].elements();
      const std::vector<Field> tokens = special["tokens"].elements();
      if (ids.size() != tokens.size()) special["ids"].refuse("as many ids as tokens");
      for (std::size_t i = 0; i < ids.size(); ++i) {
        made.ids.push_back(checked_id(ids[i], tokens[i].text(), id_of));
      }
    }
    template_.push_back(std::move(made));
  }
}

std::size_t PostProcessor::added() const {
  std::size_t count = 0;
  for (const Item& item : template_) count += item.ids.size();
  return count;
}

void PostProcessor::apply(std::vector<Token>& tokens, std::string_view text,
                          bool add_special_tokens) const {
  for (const Trim& each : trims_) trim(tokens, text, each);
  if (!has_template_) return;
  std::vector<Token> all;
  for (const Item& item : template_) {
    if (item.sequence) {
      for (Token token : tokens) {
        token.type = item.type;
        all.push_back(token);
      }
    } else if (add_special_tokens) {
      for (const std::uint32_t id : item.ids) all.push_back({.id = id, .type = item.type});
    }
  }
  tokens = std::move(all);
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
