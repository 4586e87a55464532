// The model types of images that can be read and written: vit and deit.
#pragma once

#include <string_view>

#include "hub/weight_table.h"
#include "interop/config/object.h"
#include "sextant/models/image_model.h"

namespace sextant::hub {

struct ImageFamily {
  std::string_view model_type;
  NameRules names;
};

// Null for a type that is not one of these.
const ImageFamily* find_image_family(std::string_view model_type) noexcept;
// The type that has all of a config, since only deit has a distillation token.
const ImageFamily& family_of(const ImageConfig& config) noexcept;

// Reads config.json. Whether there is a pooler is known from the file alone. Throws Error with the
// key for values that are out of range or that models here do not have.
ImageConfig read_image_config(const interop::ConfigObject& object);
Json write_image_config(const ImageConfig& config);
void add_image_weights(const ImageConfig& config, WeightTable& table);

}  // namespace sextant::hub
