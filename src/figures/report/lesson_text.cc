// Reads the text of a step of the explorer's lesson for the report.
#include "core/files/embedded_text.h"
#include "figures/report/page_files.h"
#include "figures/report/parts.h"
#include "sextant/core/error.h"

namespace sextant::figures {

std::string lesson_text(const std::string& step, const std::string& part) {
  static const Json steps = Json::parse(embedded_text(kLessonJson)).at("steps");
  for (const Json& one : steps) {
    if (one.at("name") == step) return one.at(part).get<std::string>();
  }
  throw Error("report.lesson", "must have a step " + step);
}

}  // namespace sextant::figures
