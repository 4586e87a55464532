// Lines are written at once, by one call where the system allows it.
#include "training/runs/metrics_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/json/json.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"

namespace sextant {
namespace {

[[noreturn]] void fail(const std::string& path, int reason) {
  throw Error(path, "cannot be written: " + std::generic_category().message(reason));
}

// Returns the checksum of the lines in the first bytes of the file.
std::string checksum_of_lines(const std::string& path, std::int64_t bytes) {
  std::string checksum;
  if (bytes == 0) return checksum;
  const std::string text = read_file(path).substr(0, static_cast<std::size_t>(bytes));
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    checksum = checksum_of(checksum + text.substr(begin, end - begin));
    begin = end;
  }
  return checksum;
}

}  // namespace

std::string format_metrics(const StepMetrics& metrics) {
  Json json = {{"step", metrics.step},
               {"loss", metrics.loss},
               {"objective", metrics.objective},
               {"mean_loss", metrics.mean_loss},
               {"gradient_norm", metrics.gradient_norm},
               {"learning_rate", metrics.learning_rate},
               {"tokens", metrics.tokens},
               {"seconds", metrics.seconds},
               {"tokens_per_second", metrics.tokens_per_second}};
  if (metrics.validation_loss) json["validation_loss"] = *metrics.validation_loss;
  if (metrics.validation_accuracy) json["validation_accuracy"] = *metrics.validation_accuracy;
  return json.dump();
}

MetricsFile::MetricsFile(std::string path, std::int64_t bytes, const std::string& checksum)
    : path_(std::move(path)),
      descriptor_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)),
      bytes_(bytes) {
  if (descriptor_ < 0) fail(path_, errno);
  struct stat status {};
  int problem = ::fstat(descriptor_, &status) != 0 ? errno : 0;
  const bool is_short = problem == 0 && status.st_size < bytes;
  try {
    if (problem == 0 && !is_short) checksum_ = checksum_of_lines(path_, bytes);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
  const bool is_other = !is_short && checksum_ != checksum;
  if (problem == 0 && !is_short && !is_other && ::ftruncate(descriptor_, bytes) != 0) {
    problem = errno;
  }
  if (problem == 0 && !is_short && !is_other) return;
  ::close(descriptor_);
  if (problem != 0) fail(path_, problem);
  if (is_other) {
    throw Error(path_, "is corrupt: checksum mismatch in the " + std::to_string(bytes) +
                           " bytes of its checkpoint");
  }
  throw Error(path_, "must have the " + std::to_string(bytes) + " bytes of its checkpoint, got " +
                         std::to_string(status.st_size));
}

MetricsFile::~MetricsFile() { ::close(descriptor_); }

void MetricsFile::append(const StepMetrics& metrics) {
  const std::string line = format_metrics(metrics) + "\n";
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path_, errno);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  bytes_ += static_cast<std::int64_t>(line.size());
  checksum_ = checksum_of(checksum_ + line);
}

void MetricsFile::sync() {
  if (::fsync(descriptor_) != 0) fail(path_, errno);
}

LossCurves loss_curves(const std::string& path) {
  const std::string bytes = read_file(path);
  LossCurves curves;
  std::size_t begin = 0;
  for (int line = 1; begin < bytes.size(); ++line) {
    const std::size_t end = bytes.find('\n', begin);
    if (end == std::string::npos) break;
    const std::string_view text = std::string_view(bytes).substr(begin, end - begin);
    begin = end + 1;
    try {
      const Json json = Json::parse_object(text, path);
      const auto step = static_cast<double>(json.at("step").get<std::int64_t>());
      const auto loss = json.at("loss").get<double>();
      const auto mean = json.at("mean_loss").get<double>();
      const auto seconds = json.at("seconds").get<double>();
      if (!(step > (curves.steps.empty() ? 0 : curves.steps.back())) || !(seconds >= 0)) {
        throw Error(path, "must have ascending steps, and seconds");
      }
      curves.steps.push_back(step);
      curves.loss.push_back(loss);
      curves.mean_loss.push_back(mean);
      curves.seconds.push_back(seconds);
      if (!json.contains("validation_loss")) continue;
      curves.validation_loss.push_back(json.at("validation_loss").get<double>());
      curves.validation_steps.push_back(step);
    } catch (const Error&) {
      throw Error(path, "must be the metrics of a training run, but is not in line " +
                            std::to_string(line));
    }
  }
  return curves;
}

}  // namespace sextant
