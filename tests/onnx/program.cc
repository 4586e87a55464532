// Runs every case of a folder and says which pass (see program.h).
#include "onnx/program.h"

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "onnx/case.h"
#include "sextant/core/numbers.h"

namespace sextant::onnx {
namespace fs = std::filesystem;

std::vector<std::string> cases_in(const std::string& folder) {
  std::vector<std::string> folders;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const bool hidden = entry.path().filename().string().front() == '.';
    if (entry.is_directory() && !hidden) folders.push_back(entry.path().string());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

int run_program(std::span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  if (arguments.size() != 1) {
    err << "usage: onnx_conformance DIR, a folder with one folder per case\n";
    return 2;
  }
  std::error_code error;
  if (!fs::is_directory(arguments[0], error)) {
    err << "onnx_conformance: " << arguments[0] << " is not a folder\n";
    return 2;
  }
  int passed = 0, failed = 0;
  for (const std::string& folder : cases_in(arguments[0])) {
    const Verdict verdict = run_case(folder);
    ++(verdict.passed() ? passed : failed);
    out << fs::path(folder).filename().string() << (verdict.passed() ? " passed" : " failed")
        << ", largest error " << shortest(static_cast<float>(verdict.largest_error));
    if (!verdict.passed()) out << ": " << verdict.reason;
    out << std::endl;
  }
  out << passed << " passed, " << failed << " failed" << std::endl;
  return passed > 0 && failed == 0 ? 0 : 1;
}

}  // namespace sextant::onnx
