// Opens image models, and reads images.
#include "models/image_option.h"

#include <utility>

#include "sextant/core/error.h"
#include "sextant/core/npy.h"

namespace sextant::app {

ImageModel open_image_model(const ModelOption& option, const std::string& where) {
  if (option.folders.size() != 1) {
    throw Error(where, "must be one folder here, got " + std::to_string(option.folders.size()));
  }
  if (!option.read_as.empty()) {
    throw Error(where, "must not be given with --read-as for an image model");
  }
  return load_image_model(option.folders.front(), option.weights.dtype);
}

Tensor<float> read_images(const std::string& path, const std::string& where) {
  const Array array = load_npy(path);
  if (!is_float(array.dtype) || array.shape.rank() < 3 || array.shape.rank() > 4) {
    throw Error(where,
                "must be floats [channels, height, width] or [images, channels, height, "
                "width], got " +
                    std::string(dtype_name(array.dtype)) + " " + array.shape.to_string());
  }
  Tensor<float> images = array.to<float>();
  return array.shape.rank() == 4 ? std::move(images) : copy_of(images.view().split(0, 1));
}

}  // namespace sextant::app
