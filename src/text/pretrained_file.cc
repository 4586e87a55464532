// Which library a tokenizer.json is of: needs nothing but JSON.
#include "core/json/json.h"
#include "sextant/text/pretrained_tokenizer.h"
#include "text/token_list.h"

namespace sextant {

bool PretrainedTokenizer::recognizes(std::string_view json) {
  try {
    const Json file = Json::parse_object(json, "tokenizer.json", text::kTokenFile);
    return file.contains("model") && !file.contains("format");
  } catch (const Error&) {  // the next reader reports the mistake
    return false;
  }
}

}  // namespace sextant
