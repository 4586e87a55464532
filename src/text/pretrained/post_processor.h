// The "post_processor" of a tokenizer.json: the special tokens around a text, and its offsets.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "text/pretrained/fields.h"

namespace sextant::text {

struct Token {
  std::uint32_t id = 0;
  std::uint32_t type = 0;
  std::uint32_t begin = 0;  // bytes of the text, [begin, end)
  std::uint32_t end = 0;
  std::string_view spelled;  // its spelling in the changed text, or in the vocabulary
};

class PostProcessor {
 public:
  PostProcessor() = default;  // changes nothing
  // TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel and Sequence; throws Error for
  // another type and for a special token of another id than `id_of` gives.
  static PostProcessor read(const Field& field,
                            const std::function<std::int64_t(std::string_view)>& id_of);

  void apply(std::vector<Token>& tokens, std::string_view text, bool add_special_tokens) const;
  // The tokens of two texts as those of one. Throws an Error with tokenizer.second where the
  // template for two is empty.
  std::vector<Token> join(std::vector<Token> first, std::string_view text,
                          std::vector<Token> second, std::string_view second_text,
                          bool add_special_tokens) const;
  // How many special tokens it adds.
  std::size_t added() const;

 private:
  using IdOf = std::function<std::int64_t(std::string_view)>;
  struct Item {  // of a template
    bool sequence = false;
    bool second = false;  // the sequence of the second text
    std::uint32_t type = 0;
    std::vector<std::uint32_t> ids;
  };
  struct Trim {
    bool prefix_space = false;
  };

  void add(const Field& field, const IdOf& id_of);
  static std::vector<Item> read_template(const Field& items, const Field& special_tokens,
                                         std::initializer_list<std::string_view> sequences,
                                         const IdOf& id_of);
  static std::vector<Token> filled(const std::vector<Item>& items, const std::vector<Token>& first,
                                   const std::vector<Token>& second, bool add_special_tokens);
  void trim(std::vector<Token>& tokens, std::string_view text, const Trim& trim) const;

  std::vector<Trim> trims_;
  std::vector<Item> template_, pair_template_;  // around one text, and two
  bool has_template_ = false;
};

}  // namespace sextant::text
