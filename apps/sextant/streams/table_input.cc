// Tables that come from files.
#include "streams/table_input.h"

#include "sextant/core/files.h"
#include "streams/console.h"

namespace sextant::app {
namespace {

std::string bytes_of(const std::string& path) {
  return path == "-" ? read_stdin() : read_file(path);
}

std::optional<DType> type_of(const std::string& name) {
  if (name.empty()) return std::nullopt;
  return parse_dtype(name);
}

}  // namespace

StoredTable load_table(const std::string& path, const std::string& stored_as) {
  return parse_table(bytes_of(path), path, type_of(stored_as));
}

StoredTable load_any_array(const std::string& path, const std::string& stored_as) {
  return parse_any_array(bytes_of(path), path, type_of(stored_as));
}

}  // namespace sextant::app
