// The pictures of a report as files for slides.
#include <cctype>
#include <filesystem>
#include <system_error>
#include <utility>

#include "sextant/core/error.h"
#include "sextant/figures/report.h"

namespace sextant::figures {
namespace {

// Pixels, of a projector. A picture's width is rounded up, so that it is a little less.
constexpr double kSlideWidth = 1919.99;

std::string file_name(const ReportPicture& made) {
  std::string name = std::to_string(made.section) + "-";
  for (const char c : made.picture.title.empty() ? made.heading : made.picture.title) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter) != 0) {
      name += static_cast<char>(std::tolower(letter));
    } else if (name.back() != '-') {
      name += '-';
    }
  }
  return name.substr(0, name.find_last_not_of('-') + 1);
}

}  // namespace

ReportFolder::ReportFolder(std::string folder) : folder_(std::move(folder)) {
  std::error_code problem;
  std::filesystem::create_directories(folder_, problem);
  if (problem) {
    throw Error("report.pictures", folder_ + " cannot be made: " + problem.message());
  }
}

void ReportFolder::save(const ReportPicture& made) {
  std::string name = file_name(made);
  if (const int before = names_[name]++; before > 0) name += "-" + std::to_string(before + 1);
  const std::string path = (std::filesystem::path(folder_) / name).string();
  save_picture(path + ".svg", made.picture);
  save_picture(path + ".png", made.picture, kSlideWidth / made.picture.width);
}

}  // namespace sextant::figures
