// What commands that take images share: the model, and the array.
#pragma once

#include <string>

#include "models/model_option.h"
#include "sextant/hub/image_models.h"

namespace sextant::app {

// The image model of --model. Throws Error for more than one folder, and as load_image_model().
ImageModel open_image_model(const ModelOption& option, const std::string& where);
// Reads [images, channels, height, width], or one without the first axis. Throws Error with `where`
// for another shape, and for numbers that are not floats.
Tensor<float> read_images(const std::string& path, const std::string& where);

}  // namespace sextant::app
