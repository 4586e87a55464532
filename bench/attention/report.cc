// Turns measurements into rows, and rows into tables.
#include "attention/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <map>

#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/kernels.h"
#include "support/machine.h"

namespace sextant::bench {
namespace {

constexpr double kBusy = 0.06;  // others used more of the cores than this: the row is marked

std::string number(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

std::string percent(double share) { return number("%.1f %%", 100 * share); }

// Whether two results agree as well as 16-bit storage allows.
bool agree(const Json& ours, const Json& theirs) {
  if (!ours.is_array() || !theirs.is_array() || ours.size() != theirs.size()) return true;
  const double tolerance = 0.03 * std::abs(ours[0].get<double>());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (!(std::abs(ours[i].get<double>() - theirs[i].get<double>()) <= tolerance)) return false;
  }
  return true;
}

}  // namespace

Json machine_json() {
  char date[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof(date), "%Y-%m-%d", std::gmtime(&now));
  return {{"processor", processor()},
          {"target", chosen_target()},
          {"compiler", compiler()},
          {"commit", commit()},
          {"date", date}};
}

Json row_json(const Case& test, const Prepared& prepared, int threads, const Measured& measured,
              double extra_bytes) {
  Json row = {{"case", test.name},
              {"threads", threads},
              {"target", test.target},
              {"unit", prepared.unit},
              {"ms", measured.run.best * 1e3},
              {"median_ms", measured.run.median * 1e3},
              {"rate", measured.run.rate() * 1e-9},
              {"yardstick", measured.yardstick_name},
              {"yardstick_rate", measured.yardstick.rate() * 1e-9},
              {"share", measured.run.rate() / measured.yardstick.rate()},
              {"median_share", measured.run.median_rate() / measured.yardstick.median_rate()},
              {"others", measured.others}};
  // How much of the speed without bias is left: 1 where the bias costs nothing.
  if (measured.plain) row["of_plain"] = measured.run.rate() / measured.plain->rate();
  if (extra_bytes >= 0) row["extra_mib"] = extra_bytes / (1 << 20);
  if (!measured.check.empty()) row["check"] = measured.check;
  return row;
}

void merge_row(Json& rows, const Json& row) {
  const auto old = std::find_if(rows.begin(), rows.end(), [&](const Json& other) {
    return other["case"] == row["case"] && other["threads"] == row["threads"];
  });
  if (old == rows.end()) {
    rows.push_back(row);
  } else {
    *old = row;
  }
}

Json read_json(const std::string& path, const std::string& kind) {
  Json content = Json::parse_object(read_file(path), path);
  if (!content.contains("rows") || !content.contains(kind)) {
    throw Error("file", "must hold " + std::string(kind == "peers" ? "rivals' " : "our ") +
                            "results as JSON, got " + path);
  }
  return content;
}

void write_json(const std::string& path, const Json& content) {
  write_file(path, content.dump(1) + "\n");
}

void Peers::add(const Json& file) { files_.push_back(file); }

std::string Peers::versions() const {
  std::string text;
  for (const Json& file : files_) {
    const Json names = file.value("peers", Json::object());
    for (const auto& [name, version] : names.items()) {
      text += (text.empty() ? "" : ", ") + name + " " + version.get<std::string>();
    }
  }
  return text;
}

std::vector<std::string> Peers::skipped() const {
  std::map<std::string, std::string> cases;  // of each peer and reason
  for (const Json& file : files_) {
    for (const Json& item : file.value("skipped", Json::array())) {
      std::string& names = cases[item.value("peer", "") + " " + item.value("why", "")];
      const std::string name = item.value("case", "");
      if (names.find(name) == std::string::npos) names += (names.empty() ? "" : ", ") + name;
    }
  }
  std::vector<std::string> lines;
  for (const auto& [reason, names] : cases) lines.push_back(reason + ": " + names);
  return lines;
}

std::vector<Peers::Ratio> Peers::ratios(const Json& row) const {
  std::vector<Ratio> found;
  for (const Json& file : files_) {
    for (const Json& other : file["rows"]) {
      if (other["case"] != row["case"] || other["threads"] != row["threads"]) continue;
      found.push_back({other["peer"].text(), other["ms"].get<double>() / row["ms"].get<double>(),
                       agree(row.value("check", Json()), other.value("check", Json()))});
    }
  }
  std::sort(found.begin(), found.end(),
            [](const Ratio& a, const Ratio& b) { return a.ratio < b.ratio; });
  return found;
}

void Table::line(const std::vector<std::string>& cells) const {
  static constexpr int kWidths[] = {-45, 7, 7, 8, 7, -16, 8, 8, 9, 9, -25, -22, 0};
  std::string text = markdown_ ? "|" : "";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    char cell[256];
    std::snprintf(cell, sizeof(cell), markdown_ ? " %*s |" : "%*s  ", markdown_ ? 0 : kWidths[i],
                  cells[i].c_str());
    text += cell;
  }
  text.erase(text.find_last_not_of(' ') + 1);
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

void Table::header(const Json& machine) const {
  const auto field = [&](const char* name) { return machine.value(name, std::string("?")); };
  std::printf("%s, %s in use, %s, commit %s, %s\n", field("processor").c_str(),
              field("target").c_str(), field("compiler").c_str(),
              field("commit").empty() ? "unknown" : field("commit").c_str(), field("date").c_str());
  if (!peers_.empty()) std::printf("rivals: %s\n", peers_.versions().c_str());
  std::printf("\n");
  std::vector<std::string> names = {"case",      "threads",   "rate",  "share",
                                    "of",        "yardstick", "ms",    "median",
                                    "extra MiB", "of plain",  "target"};
  if (!peers_.empty()) names.insert(names.end(), {"best rival", "other rivals"});
  line(names);
  if (markdown_) line(std::vector<std::string>(names.size(), "---"));
}

void Table::row(const Json& row) const {
  const auto optional = [&](const char* name, const char* format) {
    return row.contains(name) ? number(format, row[name].get<double>()) : std::string("-");
  };
  const auto numeral = [&](const char* name) { return optional(name, "%.4g"); };
  std::vector<std::string> cells = {
      row["case"].text(),
      std::to_string(row["threads"].get<int>()) + (row.value("others", 0.0) > kBusy ? "*" : ""),
      numeral("rate"),
      percent(row["share"].get<double>()),
      numeral("yardstick_rate"),
      row["yardstick"].text(),
      numeral("ms"),
      numeral("median_ms"),
      optional("extra_mib", "%.1f"),
      row.contains("of_plain") ? percent(row["of_plain"].get<double>()) : "-",
      row.value("target", "")};
  if (!peers_.empty()) {
    std::string first = "-";
    std::string others;
    for (const Peers::Ratio& ratio : peers_.ratios(row)) {
      const std::string text = number("%.2fx ", ratio.ratio) + ratio.peer;
      if (ratio.same && first == "-") {
        first = text;
      } else {
        others += (others.empty() ? "" : ", ") + text + (ratio.same ? "" : " (another result!)");
      }
    }
    cells.insert(cells.end(), {first, others});
  }
  line(cells);
}

void Table::footer() const {
  std::printf(
      "\nrate: GFLOP/s of visible work, or GB/s. share: of the yardstick, whose rate stands behind "
      "it. ms: best call. of plain: the rate without bias, window or softcap.\n"
      "*: others used more than %.0f %% of the cores.\n",
      100 * kBusy);
  if (!peers_.empty()) {
    std::printf("rivals: their best time over ours; daz: denormals taken as zero.\n");
  }
  for (const std::string& text : peers_.skipped()) std::printf("not measured: %s\n", text.c_str());
}

}  // namespace sextant::bench
