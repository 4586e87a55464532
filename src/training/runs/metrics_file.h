// metrics.jsonl while it grows.
#pragma once

#include <cstdint>
#include <string>

#include "sextant/training/metrics.h"

namespace sextant {

class MetricsFile {
 public:
  // Opens or makes the file and cuts it off after `bytes`: later lines belong to steps that will be
  // made again. Throws Error, also if the file is shorter or its lines up to there do not match the
  // checksum.
  MetricsFile(std::string path, std::int64_t bytes, const std::string& checksum);
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;
  ~MetricsFile();

  void append(const StepMetrics& metrics);  // readers see the line when this returns
  void sync();                              // on the disk when this returns
  std::int64_t bytes() const noexcept { return bytes_; }
  // Returns the checksum of all lines: checksum_of(the checksum of those before + the last one); ""
  // for none.
  const std::string& checksum() const noexcept { return checksum_; }

 private:
  std::string path_;
  int descriptor_;
  std::int64_t bytes_;
  std::string checksum_;
};

}  // namespace sextant
