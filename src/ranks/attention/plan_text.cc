// A plan in words.
#include <algorithm>
#include <string>

#include "sextant/core/numbers.h"
#include "sextant/ranks/plan.h"

namespace sextant::ranks {
namespace {

std::string bytes_text(std::int64_t bytes) {
  if (bytes < 10240) return std::to_string(bytes) + " bytes";
  const double kib = static_cast<double>(bytes) / 1024;
  return kib < 10240 ? fixed(kib, 0) + " KiB" : fixed(kib / 1024, 1) + " MiB";
}

}  // namespace

std::string AttentionPlan::explain() const {
  std::string text = "ranks: " + std::to_string(ranks) + ", form " + std::string(name_of(form)) +
                     ", division " + std::string(name_of(division)) + "\n";
  text += "work: " + std::to_string(pairs) + " pairs of a query and a key; balance " +
          fixed(balance, 3) + " (1: no rank idles); shares";
  const auto least = std::min_element(share.begin(), share.end());
  const auto most = std::max_element(share.begin(), share.end());
  for (std::size_t r = 0; r < share.size() && r < 8; ++r) text += " " + std::to_string(share[r]);
  if (share.size() > 8) {
    text += " ..., from " + std::to_string(*least) + " to " + std::to_string(*most);
  }
  text += "\n";
  for (const Cost& cost : costs) {
    text += std::string(cost.form == form ? "* " : "  ") + std::string(name_of(cost.form)) + ": ";
    if (!cost.possible) {
      text += "not here, " + cost.why_not + "\n";
      continue;
    }
    text += "receives " + bytes_text(cost.bytes) + " in " + std::to_string(cost.messages) +
            " messages, keeps " + bytes_text(cost.memory) + " besides; about " +
            significant(cost.seconds, 3) + " s, of which " + significant(cost.seconds_exposed, 3) +
            " s wait for messages\n";
  }
  for (const std::string& note : notes) text += "note: " + note + "\n";
  return text;
}

}  // namespace sextant::ranks
