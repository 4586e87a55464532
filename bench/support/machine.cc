// Reads the machine's description and counters where Linux keeps them.
#include "support/machine.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>

namespace sextant::bench {
namespace {

// The value behind "name" or "name\t:" in a file of lines.
std::string line_value(const char* path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(name, 0) != 0) continue;
    const auto colon = line.find(':');
    if (colon == std::string::npos || line.find_first_not_of(" \t", name.size()) != colon) continue;
    const auto begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

double kilobytes(const std::string& name) {
  const std::string text = line_value("/proc/self/status", name);
  return text.empty() ? -1 : 1024 * std::atof(text.c_str());
}

// Makes every page of the program and its libraries resident.
void load_files() {
  constexpr int kPopulateRead = 22;  // MADV_POPULATE_READ, Linux 5.14; an error elsewhere
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0;
    unsigned long end = 0;
    if (line.find(" /") == std::string::npos) continue;
    if (std::sscanf(line.c_str(), "%lx-%lx r", &begin, &end) != 2) continue;
    madvise(reinterpret_cast<void*>(begin), end - begin, kPopulateRead);
  }
}

}  // namespace

std::string processor() {
  const std::string name = line_value("/proc/cpuinfo", "model name");
  if (name.empty()) return "unknown processor";
  return name + " (family " + line_value("/proc/cpuinfo", "cpu family") + " model " +
         line_value("/proc/cpuinfo", "model") + ")";
}

std::string compiler() {
#ifdef __clang__
  return "clang " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

std::string commit() {
  std::string text;
  FILE* pipe = popen("git -C '" SEXTANT_SOURCE_DIR
                     "' describe --always --dirty --abbrev=10 --exclude '*' 2>/dev/null",
                     "r");
  if (pipe == nullptr) return text;
  for (int c = std::fgetc(pipe); c != EOF && c != '\n'; c = std::fgetc(pipe)) {
    text += static_cast<char>(c);
  }
  pclose(pipe);
  return text;
}

void pin_openmp_threads(char** argv) {
  if (std::getenv("OMP_PROC_BIND") != nullptr || std::getenv("OMP_PLACES") != nullptr ||
      std::getenv("GOMP_CPU_AFFINITY") != nullptr) {
    return;
  }
  setenv("OMP_PROC_BIND", "true", 1);
  setenv("OMP_PLACES", "cores", 1);
  execv("/proc/self/exe", argv);  // returns only where that does not exist: then unpinned
}

double OtherLoad::since_last() {
  // user nice system idle iowait irq softirq steal
  std::ifstream file("/proc/stat");
  std::string word;
  file >> word;
  double busy = 0;
  double total = 0;
  for (int column = 0; column < 8; ++column) {
    double ticks = 0;
    file >> ticks;
    total += ticks;
    if (column != 3 && column != 4) busy += ticks;
  }
  if (!file) return 0;
  const double own = static_cast<double>(std::clock()) / CLOCKS_PER_SEC *
                     static_cast<double>(sysconf(_SC_CLK_TCK));
  const double all = total - total_;
  const double others = (busy - busy_) - (own - own_);
  busy_ = busy;
  own_ = own;
  total_ = total;
  return all > 0 ? std::clamp(others / all, 0.0, 1.0) : 0;
}

double peak_memory() { return kilobytes("VmHWM"); }

MemoryGrowth::MemoryGrowth() {
  load_files();    // code that runs for the first time is no scratch
  malloc_trim(0);  // free memory that is still resident would hide growth
  const bool reset = static_cast<bool>(std::ofstream("/proc/self/clear_refs") << 5 << std::flush);
  before_ = reset ? kilobytes("VmHWM") : -1;
}

double MemoryGrowth::bytes() const {
  const double peak = kilobytes("VmHWM");
  return before_ < 0 || peak < 0 ? -1 : std::max(0.0, peak - before_);
}

}  // namespace sextant::bench
