// The table of results, as text, as Markdown and as JSON, with the rivals beside them.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "attention/cases.h"
#include "attention/measure.h"

namespace sextant::bench {

// {"machine": {...}, "rows": [...]}; a row belongs to one case and number of threads.
nlohmann::json machine_json();
nlohmann::json row_json(const Case& test, const Prepared& prepared, int threads,
                        const Measured& measured, double extra_bytes);

// Puts the row in place of that of the same case and threads, or behind the others.
void merge_row(nlohmann::json& rows, const nlohmann::json& row);

// Throws Error when that is no such file: `kind` is "machine" for ours, "peers" for the rivals'.
nlohmann::json read_json(const std::string& path, const std::string& kind);
void write_json(const std::string& path, const nlohmann::json& json);

// What the programs in bench/peers wrote: {"peers": {name: version}, "rows": [{case, threads, peer,
// ms, check}], "skipped": [{peer, case, why}]}.
class Peers {
 public:
  void add(const nlohmann::json& file);
  bool empty() const { return files_.empty(); }
  std::string versions() const;
  std::vector<std::string> skipped() const;  // one line each

  struct Ratio {
    std::string peer;
    double ratio;  // the rival's best time over ours
    bool same;     // whether its result is ours
  };
  std::vector<Ratio> ratios(const nlohmann::json& row) const;  // the fastest rival first

 private:
  std::vector<nlohmann::json> files_;
};

class Table {
 public:
  Table(bool markdown, const Peers& peers) : markdown_(markdown), peers_(peers) {}
  void header(const nlohmann::json& machine) const;
  void row(const nlohmann::json& row) const;
  void footer() const;

 private:
  void line(const std::vector<std::string>& cells) const;

  bool markdown_;
  const Peers& peers_;
};

}  // namespace sextant::bench
