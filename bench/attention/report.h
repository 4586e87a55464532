// The table of results, as text, as Markdown and as JSON, with the rivals beside them.
#pragma once

#include <string>
#include <vector>

#include "attention/cases.h"
#include "attention/measure.h"
#include "core/json/json.h"

namespace sextant::bench {

// {"machine": {...}, "rows": [...]}; a row belongs to one case and number of threads.
Json machine_json();
Json row_json(const Case& test, const Prepared& prepared, int threads, const Measured& measured,
              double extra_bytes);

// Puts the row in place of that of the same case and threads, or behind the others.
void merge_row(Json& rows, const Json& row);

// Throws Error when that is no such file: `kind` is "machine" for ours, "peers" for the rivals'.
Json read_json(const std::string& path, const std::string& kind);
void write_json(const std::string& path, const Json& json);

// What the programs in bench/peers wrote: {"peers": {name: version}, "rows": [{case, threads, peer,
// ms, check}], "skipped": [{peer, case, why}]}.
class Peers {
 public:
  void add(const Json& file);
  bool empty() const { return files_.empty(); }
  std::string versions() const;
  std::vector<std::string> skipped() const;  // one line each

  struct Ratio {
    std::string peer;
    double ratio;  // the rival's best time over ours
    bool same;     // whether its result is ours
  };
  std::vector<Ratio> ratios(const Json& row) const;  // the fastest rival first

 private:
  std::vector<Json> files_;
};

class Table {
 public:
  Table(bool markdown, const Peers& peers) : markdown_(markdown), peers_(peers) {}
  void header(const Json& machine) const;
  void row(const Json& row) const;
  void footer() const;

 private:
  void line(const std::vector<std::string>& cells) const;

  bool markdown_;
  const Peers& peers_;
};

}  // namespace sextant::bench
