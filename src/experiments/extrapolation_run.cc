// The experiment: a plan, what is missing, the table. Schemes are pieces of work for whoever is
// free.
#include "sextant/experiments/extrapolation_run.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "core/json.h"
#include "experiments/agreement.h"
#include "experiments/extrapolation_plan.h"
#include "experiments/scheme_run.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "training/whole_group.h"

namespace sextant {
namespace {

double steady_seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

class Experiment {
 public:
  Experiment(const ExtrapolationOptions& options, const Tokenizer& tokenizer,
             const std::vector<std::int64_t>& tokens, const std::vector<std::int64_t>& held_out,
             const ExtrapolationObserver& observer)
      : options_(options),
        group_(options.group),
        data_{.tokenizer = tokenizer, .tokens = tokens, .held_out = held_out, .scored = {}},
        observer_(observer),
        clock_(options.clock ? options.clock : steady_seconds),
        results_(options.folder + "/results.json") {
    group_.together([&] {
      check_options(options_);
      data_.scored = scored_tokens(static_cast<std::int64_t>(held_out.size()),
                                   options_.test_lengths.back(), options_.scored);
    });
    group_.check_same([&] { return compared(options_, tokens, held_out); });
    if (group_.get() == nullptr) return;
    options_.should_stop = [own = options.should_stop, group = group_.get()] {
      return (own && own()) || group->others_stop();
    };
  }

  ExtrapolationResult run() {
    table_ = {.train_length = options_.data.length,
              .steps = plan(),
              .stride = options_.stride,
              .scored = data_.scored,
              .lengths = options_.test_lengths};
    group_.together([&] {
      if (group_.is_first()) table_.rows = finished_rows();
    });
    share(table_);
    for (std::size_t i = 0; i < options_.schemes.size(); ++i) {
      if (row_of(table_, i) == nullptr) missing_.push_back(i);
    }
    ExtrapolationResult result{.stopped = !make_missing()};
    share(table_);
    result.table = table_;
    result.table.rows.clear();
    for (std::size_t i = 0; i < options_.schemes.size(); ++i) {
      if (const ExtrapolationRow* row = row_of(table_, i)) result.table.rows.push_back(*row);
    }
    return result;
  }

 private:
  // The steps of each scheme. Where they have to be measured, all ranks do it side by side.
  std::int64_t plan() {
    bool unplanned = false;
    group_.together([&] {
      if (!group_.is_first()) return;
      std::error_code error;
      std::filesystem::create_directories(options_.folder, error);
      if (error) throw Error(options_.folder, "cannot be made: " + error.message());
      unplanned = is_unplanned(options_);
    });
    std::vector<Measured> measured(options_.schemes.size());
    if (group_.any(unplanned)) {
      group_.hand_out(
          static_cast<std::int64_t>(measured.size()),
          {.make = [this](std::int64_t i) { return format_measured(scheme(i).measure(clock_)); },
           .take =
               [&measured](std::int64_t i, const std::string& text) {
                 measured[static_cast<std::size_t>(i)] = parse_measured(text);
               }});
    }
    std::int64_t steps = 0;
    group_.together([&] {
      if (group_.is_first()) {
        steps = plan_steps(options_, data_.tokens, measured, group_.size());
      }
    });
    group_.broadcast_number(steps);
    return steps;
  }

  // Whether it was not stopped. Rows come in any order, and stand in that of the schemes.
  bool make_missing() {
    const ExtrapolationTable known = table_;
    std::vector<std::optional<ExtrapolationRow>> made(missing_.size());
    const auto make = [&](std::int64_t piece) -> std::optional<std::string> {
      const std::size_t index = missing_[static_cast<std::size_t>(piece)];
      const auto row = scheme(static_cast<std::int64_t>(index)).train_and_score(known.steps);
      if (!row) return std::nullopt;
      ExtrapolationTable one = known;
      one.rows = {*row};
      return format_json(one);
    };
    const auto take = [&](std::int64_t piece, const std::string& text) {
      made[static_cast<std::size_t>(piece)] =
          std::move(parse_extrapolation(text, "a row").rows.front());
      table_.rows = known.rows;
      for (const auto& row : made) {
        if (row) table_.rows.push_back(*row);
      }
      std::ranges::stable_sort(table_.rows, {}, [this](const auto& row) { return place_of(row); });
      save();
    };
    return group_.hand_out(static_cast<std::int64_t>(missing_.size()),
                           {.make = make, .take = take});
  }

  SchemeRun scheme(std::int64_t index) const {
    return SchemeRun(options_, data_, static_cast<std::size_t>(index), observer_);
  }

  const ExtrapolationRow* row_of(const ExtrapolationTable& table, std::size_t index) const {
    const auto found =
        std::ranges::find(table.rows, options_.schemes[index].label, &ExtrapolationRow::label);
    return found == table.rows.end() ? nullptr : &*found;
  }

  // Of its scheme; those of other calls come first.
  std::ptrdiff_t place_of(const ExtrapolationRow& row) const {
    const auto& all = options_.schemes;
    const auto found = std::ranges::find(all, row.label, &ExtrapolationScheme::label);
    return found == all.end() ? -1 : found - all.begin();
  }

  // That of the first one, on all.
  void share(ExtrapolationTable& table) const {
    if (group_.get() == nullptr) return;
    std::string text = group_.is_first() ? format_json(table) : "";
    group_.broadcast_text(text);
    table = parse_extrapolation(text, "the table");
  }

  // The text that scores depend on goes with the table.
  void save() const {
    Json json = Json::parse(format_json(table_));
    json["text"] = fingerprint(data_.held_out);
    write_file(results_, json.dump(2) + "\n");
  }

  // Rows of results.json that were scored as is asked for now.
  std::vector<ExtrapolationRow> finished_rows() const {
    std::error_code ignored;
    if (!std::filesystem::exists(results_, ignored)) return {};
    const std::string text = read_file(results_, JsonLimits{}.bytes);
    ExtrapolationTable found = parse_extrapolation(text, results_);
    const Json json = Json::parse(text);
    const bool same = found.train_length == table_.train_length && found.steps == table_.steps &&
                      found.stride == table_.stride && found.lengths == table_.lengths &&
                      found.scored.first == table_.scored.first &&
                      found.scored.count == table_.scored.count &&
                      json.value("text", "") == fingerprint(data_.held_out);
    return same ? std::move(found.rows) : std::vector<ExtrapolationRow>();
  }

  ExtrapolationOptions options_;
  WholeGroup group_;
  ExtrapolationData data_;
  const ExtrapolationObserver& observer_;
  std::function<double()> clock_;
  std::string results_;
  ExtrapolationTable table_;          // on the first one with every row that is finished
  std::vector<std::size_t> missing_;  // schemes
};

}  // namespace

ExtrapolationResult extrapolate(const ExtrapolationOptions& options, const Tokenizer& tokenizer,
                                const std::vector<std::int64_t>& tokens,
                                const std::vector<std::int64_t>& held_out,
                                const ExtrapolationObserver& observer) {
  return Experiment(options, tokenizer, tokens, held_out, observer).run();
}

}  // namespace sextant
