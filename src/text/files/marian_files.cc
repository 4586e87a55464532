// Reads Marian's files: transformers divides by source.spm, looks each piece up in vocab.json, and
// adds </s>. A code of a language at the beginning, >>fra<<, is a separate token.
#include "text/files/marian_files.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "core/json/json.h"
#include "core/text/base64.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "text/token_list.h"

namespace sextant::text {
namespace {

constexpr std::string_view kEnd = "</s>", kUnknown = "<unk>", kPadding = "<pad>";

bool is_special(std::string_view token) {
  if (token == kEnd || token == kUnknown || token == kPadding) return true;
  return token.size() > 4 && token.starts_with(">>") && token.ends_with("<<");
}

}  // namespace

bool has_marian_files(const std::string& folder) {
  const auto exists = [&folder](const char* name) {
    std::error_code problem;
    return std::filesystem::exists(folder + name, problem);
  };
  return exists("/source.spm") && exists("/vocab.json") && !exists("/tokenizer.json");
}

std::string join_marian_files(const std::string& folder) {
  const std::string path = folder + "/vocab.json";
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 27;  // base64 of it fits into a file
  Json vocabulary = Json::parse_object(read_file(path, kTokenFile.bytes), path, kTokenFile);
  for (const std::string_view token : {kEnd, kUnknown}) {
    if (vocabulary.contains(token) && vocabulary[token].is_integer()) continue;
    throw Error(path, "must have the id of " + std::string(token));
  }
  Json added = Json::array();
  for (const auto& [token, id] : vocabulary.items()) {
    if (!is_special(token)) continue;
    added.push_back({{"id", id},
                     {"content", token},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  }
  const Json end{{"SpecialToken", {{"id", kEnd}, {"type_id", 0}}}};
  const auto sequence = [](const char* name) {
    return Json{{"Sequence", {{"id", name}, {"type_id", 0}}}};
  };
  Json specials = Json::object();
  specials[std::string(kEnd)] = {
      {"id", kEnd}, {"ids", Json::array({vocabulary[kEnd]})}, {"tokens", Json::array({kEnd})}};
  Json file{{"version", "1.0"},
            {"added_tokens", std::move(added)},
            {"normalizer", Json()},
            {"pre_tokenizer", Json()},
            {"post_processor",
             {{"type", "TemplateProcessing"},
              {"single", Json::array({sequence("A"), end})},
              {"pair", Json::array({sequence("A"), sequence("B"), end})},
              {"special_tokens", std::move(specials)}}},
            {"decoder",
             {{"type", "Metaspace"},
              {"replacement", "\u2581"},
              {"prepend_scheme", "always"},
              {"split", true}}}};
  file["model"] = {{"type", "SentencePiece"},
                   {"unk_token", kUnknown},
                   {"vocab", std::move(vocabulary)},
                   {"model", to_base64(read_file(folder + "/source.spm", kLargest))}};
  return file.dump();
}

}  // namespace sextant::text
