// Tokenizers of published models.
#include "sextant/text/pretrained_tokenizer.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arguments.h"
#include "arrays.h"
#include "bindings.h"
#include "copies.h"
#include "interpreter_lock.h"

namespace sextant::python {
namespace {

PretrainedTokenizer load_tokenizer(const std::string& path) {
  const Unlocked released;
  return PretrainedTokenizer::load(path);
}

// A str is indexed by characters, so offsets count those: [tokens, 2].
nb::object character_offsets(const std::vector<TokenOffsets>& offsets, std::string_view text) {
  std::vector<std::int64_t> character(text.size() + 1);  // begins at or before each byte
  for (std::size_t i = 0, count = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) ++count;
    character[i + 1] = static_cast<std::int64_t>(count);
  }
  Tensor<std::int64_t> array({static_cast<std::int64_t>(offsets.size()), 2});
  std::int64_t* to = array.data();
  for (const TokenOffsets& each : offsets) {
    *to++ = character[static_cast<std::size_t>(each.begin)];
    *to++ = character[static_cast<std::size_t>(each.end)];
  }
  return to_python(std::move(array));
}

nb::tuple encode(const PretrainedTokenizer& self, nb::handle given, nb::handle add_special_tokens,
                 nb::handle truncate) {
  const std::string text = Argument{given, "encode", "text"}.text();
  const PretrainedEncodeOptions options{
      .add_special_tokens = Argument{add_special_tokens, "encode", "add_special_tokens"}.flag(),
      .truncate = Argument{truncate, "encode", "truncate"}.flag()};
  const auto made = unlocked([&] { return self.encode(text, options); });
  return nb::make_tuple(to_python(made.ids), made.tokens, character_offsets(made.offsets, text),
                        to_python(made.type_ids));
}

std::string decode(const PretrainedTokenizer& self, nb::handle given, nb::handle skip) {
  const std::vector<std::int64_t> ids = Argument{given, "decode", "ids"}.integers();
  const bool skip_special = Argument{skip, "decode", "skip_special_tokens"}.flag();
  const Unlocked released;
  return self.decode(ids, skip_special);
}

}  // namespace

void bind_pretrained_tokenizer(nb::module_& module) {
  nb::class_<PretrainedTokenizer> tokenizer(module, "PretrainedTokenizer");
  never_changes(tokenizer);
  tokenizer.def_static("load", &load_tokenizer)
      .def_static("parse", [](const std::string& json) { return PretrainedTokenizer::parse(json); })
      .def(
          "__reduce__",
          [](const PretrainedTokenizer& self) {
            return made_by("pretrained_tokenizer", self.json());
          },
          nb::sig(kReduceSignature))
      .def("size", &PretrainedTokenizer::size)
      .def("max_length", &PretrainedTokenizer::max_length)
      .def(
          "encode", &encode, nb::arg().none(), nb::arg().none(), nb::arg().none(),
          nb::sig("def encode(self, text: object, add_special_tokens: object, truncate: object, /) "
                  "-> tuple[typing.Any, ...]"))
      .def("decode", &decode, nb::arg().none(), nb::arg().none())
      .def(
          "piece",
          [](const PretrainedTokenizer& self, nb::handle id) {
            return self.piece(Argument{id, "piece", "id"}.integer());
          },
          nb::arg().none())
      .def(
          "id_of",
          [](const PretrainedTokenizer& self, nb::handle token) {
            return self.id_of(Argument{token, "id_of", "token"}.text());
          },
          nb::arg().none())
      .def(
          "is_special",
          [](const PretrainedTokenizer& self, nb::handle id) {
            return self.is_special(Argument{id, "is_special", "id"}.integer());
          },
          nb::arg().none());
}

}  // namespace sextant::python
