// Names come first, since tokenizers are saved with them; ids of a model's config add the missing
// ones.
#include "text/special_tokens.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "core/json/json.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"

namespace sextant::text {
namespace {

struct Role {
  const char* name;  // "bos": of bos_token and bos_token_id
  std::int64_t SpecialTokens::*id;
};
constexpr Role kRoles[] = {{"pad", &SpecialTokens::pad},
                           {"bos", &SpecialTokens::bos},
                           {"eos", &SpecialTokens::eos},
                           {"unk", &SpecialTokens::unk},
                           {"mask", &SpecialTokens::mask}};

std::optional<Json> object_in(const std::string& path) {
  constexpr JsonLimits kLimits{.bytes = std::size_t{1} << 26, .values = std::size_t{1} << 22};
  std::error_code problem;
  if (!std::filesystem::exists(path, problem)) return std::nullopt;
  return Json::parse_object(read_file(path, kLimits.bytes), path, kLimits);
}

// "<s>" or {"content": "<s>", ...}.
std::optional<std::string> name_in(const Json& object, const std::string& key,
                                   const std::string& path) {
  if (!object.contains(key) || object[key].is_null()) return std::nullopt;
  const Json& value = object[key].is_object() && object[key].contains("content")
                          ? object[key]["content"]
                          : object[key];
  if (value.is_string()) return value.get<std::string>();
  throw Error(path, "must have a text or an object with \"content\" as \"" + key + "\", got " +
                        value.type_name());
}

// Reads an id or a list of them; ids without a token are skipped, since models list some.
std::vector<std::int64_t> ids_in(const Json& object, const std::string& key,
                                 const PretrainedTokenizer& tokenizer, const std::string& path) {
  std::vector<std::int64_t> ids;
  if (!object.contains(key) || object[key].is_null()) return ids;
  const Json list = object[key].is_array() ? object[key] : Json::array({object[key]});
  for (const Json& each : list) {
    if (!each.is_integer()) {
      throw Error(path, "must have whole numbers as \"" + key + "\", got " + each.type_name());
    }
    const auto id = each.get<std::int64_t>();
    if (tokenizer.has(id) && std::ranges::count(ids, id) == 0) ids.push_back(id);
  }
  return ids;
}

}  // namespace

SpecialTokens find_special_tokens(const std::string& folder, const PretrainedTokenizer& tokenizer) {
  SpecialTokens found;
  const auto fill = [&](std::int64_t& id, std::string_view name) {
    if (id < 0) id = tokenizer.id_of(name).value_or(-1);
  };
  if (!folder.empty()) {
    for (const char* file : {"/tokenizer_config.json", "/special_tokens_map.json"}) {
      const std::string path = folder + file;
      const std::optional<Json> object = object_in(path);
      if (!object) continue;
      for (const Role& role : kRoles) {
        const auto name = name_in(*object, std::string(role.name) + "_token", path);
        if (name) fill(found.*role.id, *name);
      }
    }
    for (const char* file : {"/generation_config.json", "/config.json"}) {
      const std::string path = folder + file;
      const std::optional<Json> object = object_in(path);
      if (!object) continue;
      for (const Role& role : kRoles) {
        const auto ids = ids_in(*object, std::string(role.name) + "_token_id", tokenizer, path);
        if (!ids.empty() && found.*role.id < 0) found.*role.id = ids.front();
        if (role.id == &SpecialTokens::eos && found.ends.empty()) found.ends = ids;
      }
    }
  }
  if (found.eos >= 0 && std::ranges::count(found.ends, found.eos) == 0) {
    found.ends.push_back(found.eos);
  }
  fill(found.mask, "[MASK]");
  fill(found.mask, "<mask>");
  return found;
}

void save_special_tokens(const std::string& folder, const SpecialTokens& special,
                         const PretrainedTokenizer& tokenizer) {
  Json names = Json::object(), ids = Json::object();
  // Any tokenizer.json: transformers looks for another class by the model type where none is named.
  names["tokenizer_class"] = "PreTrainedTokenizerFast";
  for (const Role& role : kRoles) {
    const std::int64_t id = special.*role.id;
    if (id < 0) continue;
    names[std::string(role.name) + "_token"] = tokenizer.piece(id);
  }
  ids["eos_token_id"] = special.ends;
  write_file(folder + "/tokenizer_config.json", names.dump(2) + "\n");
  write_file(folder + "/generation_config.json", ids.dump(2) + "\n");
}

}  // namespace sextant::text
