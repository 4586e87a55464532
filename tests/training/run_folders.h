// A folder per test, and what is in it.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>

#include "sextant/core/files.h"
#include "sextant/training/trainer.h"

namespace sextant {

class RunFolders : public ::testing::Test {
 protected:
  RunFolders() {
    std::string name =
        (std::filesystem::temp_directory_path() / "sextant-training-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = name;
  }
  ~RunFolders() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  // What an Error about a file says. (Appended, because g++ 12 warns of the sum of three strings.)
  std::string error_at(const std::string& name, const std::string& what) const {
    std::string text(1, '[');
    return text.append(path(name)).append("] ").append(what);
  }

 private:
  std::filesystem::path folder_;
};

// All files below a folder with their bytes, and where links lead.
inline std::map<std::string, std::string> contents_of(const std::string& folder) {
  namespace fs = std::filesystem;
  std::map<std::string, std::string> contents;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().lexically_relative(folder).string();
    if (entry.is_symlink()) {
      contents[name] = "leads to " + fs::read_symlink(entry.path()).string();
    } else {
      contents[name] = entry.is_directory() ? "a folder" : read_file(entry.path().string());
    }
  }
  return contents;
}

// The names of what is not the same in both; empty when nothing is.
inline std::string differences(const std::string& folder_a, const std::string& folder_b) {
  const auto a = contents_of(folder_a);
  auto b = contents_of(folder_b);
  std::string names;
  for (const auto& [name, bytes] : a) {
    const auto found = b.find(name);
    if (found == b.end() || found->second != bytes) names += name + " ";
    if (found != b.end()) b.erase(found);
  }
  for (const auto& [name, bytes] : b) names += name + " ";
  return names;
}

// With a clock that stands still the whole folder is a function of the options.
inline TrainerOptions toy_options(const std::string& folder) {
  TrainerOptions options{.folder = folder, .seed = 3};
  options.optimiser = {.weight_decay = 0.01, .clip_norm = 1};
  options.schedule = {.decay = Decay::inverse_square_root, .peak = 0.05, .warmup = 5};
  options.dropout = 0.1;
  options.steps = 12;
  options.validate_every = 3;
  options.checkpoint_every = 2;
  options.threads = 1;
  options.clock = [] { return 0.0; };
  return options;
}

}  // namespace sextant
