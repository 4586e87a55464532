// The tiny models of tests/hub/golden and golden_images, changed as a test wants them.
#pragma once

#include <filesystem>
#include <string>

#include "core/json/json.h"
#include "sextant/core/files.h"
#include "sextant/core/safetensors.h"
#include "support/folders.h"
#include "support/temporary_folder.h"

namespace sextant {

inline std::string golden_folder(const std::string& name) {
  const bool of_images = name.starts_with("vit") || name.starts_with("deit");
  return tests::data_folder() + (of_images ? "/hub/golden_images/" : "/hub/golden/") + name;
}

// A copy of one of them: change `config` and `tensors`, then write().
class ChangedModel {
 public:
  explicit ChangedModel(const std::string& name)
      : config(Json::parse_object(read_file(golden_folder(name) + "/config.json"), name)),
        tensors(load_safetensors(TensorFile::open(golden_folder(name))).tensors) {}

  std::string write() const {
    write_file(folder_ / "config.json", config.dump());
    save_safetensors(folder_ / "model.safetensors", tensors);
    return folder_ / "";
  }
  void rename(const std::string& old, const std::string& now) {
    auto node = tensors.extract(old);
    node.key() = now;
    tensors.insert(std::move(node));
  }
  // All names that begin with `old`.
  void rename_beginnings(const std::string& old, const std::string& now) {
    for (const std::string& name : names()) {
      if (name.starts_with(old)) rename(name, now + name.substr(old.size()));
    }
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [name, tensor] : tensors) all.push_back(name);
    return all;
  }
  std::string path(const std::string& name) const { return folder_ / name; }

  Json config;
  std::map<std::string, Array> tensors;

 private:
  TemporaryFolder folder_;
};

// Zeros of float32.
inline Array zeros(const Shape& shape) {
  return {DType::float32, shape, Tensor<std::byte>({shape.count() * 4})};
}

}  // namespace sextant
