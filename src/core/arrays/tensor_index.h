// The index of a model in several files: which file each tensor is in.
#pragma once

#include <map>
#include <string>

namespace sextant {

struct TensorIndex {
  std::map<std::string, std::string> file_of;  // by the tensor's name: the file's path
};

// Throws Error naming `path` for an index that does not read, or says a file that is missing or not
// in the index's folder.
TensorIndex read_tensor_index(const std::string& path);

}  // namespace sextant
