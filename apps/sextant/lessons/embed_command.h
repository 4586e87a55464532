// Declares what the parts of `sextant embed` share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/model_option.h"
#include "options/options.h"

namespace sextant::app {

inline constexpr Format kEmbedFormats[] = {Format::text, Format::json, Format::npy, Format::svg,
                                           Format::png,  Format::pdf,  Format::html};

struct Embed {
  std::vector<std::string> sentences;
  std::string file;
  std::vector<std::string> images;  // files
  ModelOption model;
  std::optional<std::int64_t> width, seed;
  Output output;
};

// Sentences or images as vectors of a model, and how similar they are.
void embed_by_model(const Embed& embed);

}  // namespace sextant::app
