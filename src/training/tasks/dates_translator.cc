// The translator of dates that ships.
#include "sextant/training/tasks/dates_translator.h"

#include <string_view>

#include "training/tasks/dates_translator_files.h"

namespace sextant {
namespace {

template <std::size_t kSize>
std::string_view embedded_text(const unsigned char (&bytes)[kSize]) {
  return {reinterpret_cast<const char*>(bytes), kSize};
}

}  // namespace

ModelFolder dates_model() {
  ModelFolder folder = parse_model_folder(embedded_text(kConfigJson), embedded_text(kTokenizerJson),
                                          embedded_text(kModelSafetensors), "dates_translator");
  folder.taught = kDatesTaught;
  return folder;
}

const TextTranslator& dates_translator() {
  static const TextTranslator model = TextTranslator::load(dates_model());
  return model;
}

}  // namespace sextant
