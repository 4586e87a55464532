// From a folder to an image model, and back: the config first, then shapes, then memory.
#include "sextant/hub/image_models.h"

#include "core/files/exists.h"
#include "core/files/new_folder.h"
#include "hub/image_families.h"
#include "hub/pretrained_folder.h"
#include "hub/written_weights.h"
#include "sextant/core/files.h"
#include "sextant/core/printable.h"

namespace sextant {

bool is_image_model(const std::string& given) {
  const std::string folder = hub::folder_of_files(given), path = folder + "/config.json";
  if (!exists(path)) return false;
  const Json json = Json::parse_object(hub::read_config_file(folder), path);
  const Json* const type = json.find("model_type");
  return type != nullptr && type->is_string() &&
         hub::find_image_family(type->get<std::string>()) != nullptr;
}

ImageModel load_image_model(const std::string& given, WeightType dtype) {
  const std::string folder = hub::folder_of_files(given), path = folder + "/config.json";
  const Json json = Json::parse_object(hub::read_config_file(folder), path);
  const interop::ConfigObject object(json, path);
  const std::string type = object.need(object.text("model_type"), "model_type");
  const hub::ImageFamily* const family = hub::find_image_family(type);
  if (family == nullptr) {
    object.fail("model_type",
                "must be vit or deit for a model of images, got " + printable_quote(type));
  }
  ImageConfig config = hub::read_image_config(object);
  hub::check_ranges(path, [&] { check_image_config(config); });
  hub::refuse_pickle(folder);
  const TensorFile file = TensorFile::open(folder);
  hub::WeightTable table(file, family->names);
  if (!table.has("pooler.dense.weight")) config.pooler_width = 0;
  hub::add_image_weights(config, table);
  table.check_rest();
  return make_filled([&](UnsetWeights unset) { return ImageModel(config, unset); },
                     [&](const Parameters<float>& to) { table.read_into(to); }, dtype);
}

void save_image_model(const ImageModel& model, const std::string& folder, DType dtype) {
  hub::check_written_dtype("save_image_model.dtype", dtype);
  const hub::ImageFamily& family = hub::family_of(model.config);
  hub::WeightTable table(family.names);
  hub::add_image_weights(model.config, table);
  auto tensors =
      table.written(model.parameters(), model.config.classes > 0, "save_image_model.model");
  make_new_folder(folder, [&](const std::string& path) {
    write_file(path + "/config.json", hub::write_image_config(model.config).dump(2) + "\n");
    hub::save_weights(path + "/model.safetensors", std::move(tensors), dtype);
  });
}

}  // namespace sextant
