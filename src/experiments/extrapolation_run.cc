// Runs the experiment: makes a plan, the missing models, and the table. A scheme with a seed is a
// piece of work for the next free rank.
#include "sextant/experiments/extrapolation_run.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <tuple>
#include <utility>

#include "core/json/json.h"
#include "experiments/agreement.h"
#include "experiments/extrapolation_plan.h"
#include "experiments/scheme_run.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "training/gradients/group_or_self.h"

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
    group_.run_or_fail_on_all([&] {
      check_options(options_);
      data_.scored = scored_tokens(static_cast<std::int64_t>(held_out.size()),
                                   options_.test_lengths.back(), options_.scored);
    });
    group_.check_same([&] { return compared(options_, tokens, held_out); });
    if (group_.get() == nullptr) return;
    options_.should_stop = [own = options.should_stop, group = group_.get()] {
      return (own && own()) || group->cancelled();
    };
  }

  ExtrapolationResult run() {
    table_ = {.train_length = options_.data.length,
              .steps = plan(),
              .stride = options_.stride,
              .seeds = options_.seeds,
              .scored = data_.scored,
              .lengths = options_.test_lengths};
    group_.run_or_fail_on_all([&] {
      if (group_.is_first()) take_finished_rows();
    });
    share(table_);
    for (const auto stage : stages()) {
      for (std::int64_t seed = 0; seed < options_.seeds; ++seed) {
        for (std::size_t i = 0; i < options_.schemes.size(); ++i) {
          if (row_of({i, seed, stage}) == nullptr) missing_.push_back({i, seed, stage});
        }
      }
    }
    ExtrapolationResult result{.stopped = !make_missing()};
    share(table_);
    result.table = table_;
    result.table.seeds = options_.seeds;
    result.table.rows.clear();
    for (std::size_t i = 0; i < options_.schemes.size(); ++i) {
      for (const auto stage : stages()) {
        for (std::int64_t seed = 0; seed < options_.seeds; ++seed) {
          const ExtrapolationRow* row = row_of({i, seed, stage});
          if (row != nullptr) result.table.rows.push_back(*row);
        }
      }
    }
    return result;
  }

 private:
  struct Piece {
    std::size_t scheme;
    std::int64_t seed;  // 0 .. options.seeds - 1
    std::optional<TrainingStage> stage = {};
  };

  // The rows of each scheme and seed.
  std::vector<std::optional<TrainingStage>> stages() const {
    if (options_.trained == nullptr) return {std::nullopt};
    return {TrainingStage::before, TrainingStage::after};
  }

  // Determines the steps of each model. If they must be measured, all ranks do it in parallel; a
  // seed does not change the time.
  std::int64_t plan() {
    bool unplanned = false;
    group_.run_or_fail_on_all([&] {
      if (!group_.is_first()) return;
      std::error_code error;
      std::filesystem::create_directories(options_.folder, error);
      if (error) throw Error(options_.folder, "cannot be made: " + error.message());
      unplanned = is_unplanned(options_);
    });
    std::vector<Measured> measured(options_.schemes.size());
    if (group_.any(unplanned)) {
      group_.distribute(
          static_cast<std::int64_t>(measured.size()),
          {.run =
               [this](std::int64_t i) {
                 return format_measured(run_of({static_cast<std::size_t>(i), 0}).measure(clock_));
               },
           .on_result =
               [&measured](std::int64_t i, const std::string& text) {
                 measured[static_cast<std::size_t>(i)] = parse_measured(text);
               }});
    }
    std::int64_t steps = 0;
    group_.run_or_fail_on_all([&] {
      if (group_.is_first()) {
        steps = plan_steps(options_, data_.tokens, measured, group_.size());
      }
    });
    group_.broadcast_number(steps);
    return steps;
  }

  // Returns whether it was not stopped. Rows arrive in any order, and are sorted by schemes and
  // seeds.
  bool make_missing() {
    const ExtrapolationTable known = table_;
    std::vector<std::optional<ExtrapolationRow>> made(missing_.size());
    const auto run = [&](std::int64_t piece) -> std::optional<std::string> {
      const Piece& one_piece = missing_[static_cast<std::size_t>(piece)];
      const auto row = run_of(one_piece).make_row(one_piece.stage, known.steps);
      if (!row) return std::nullopt;
      ExtrapolationTable one = known;
      one.rows = {*row};
      return format_json(one);
    };
    const auto on_result = [&](std::int64_t piece, const std::string& text) {
      made[static_cast<std::size_t>(piece)] = std::move(parsed(text, "a row").rows.front());
      table_.rows = known.rows;
      for (const auto& row : made) {
        if (row) table_.rows.push_back(*row);
      }
      std::ranges::stable_sort(table_.rows, {}, [this](const auto& row) {
        return std::tuple(place_of(row), row.stage, row.seed);
      });
      save();
    };
    return group_.distribute(static_cast<std::int64_t>(missing_.size()),
                             {.run = run, .on_result = on_result});
  }

  SchemeRun run_of(const Piece& piece) const {
    return SchemeRun(options_, data_, piece.scheme, piece.seed, observer_);
  }

  const ExtrapolationRow* row_of(const Piece& piece) const {
    const std::uint64_t seed = options_.data.seed + static_cast<std::uint64_t>(piece.seed);
    const auto found = std::ranges::find_if(table_.rows, [&](const ExtrapolationRow& row) {
      return row.label == options_.schemes[piece.scheme].label && row.seed == seed &&
             row.stage == piece.stage;
    });
    return found == table_.rows.end() ? nullptr : &*found;
  }

  // Returns the place within its scheme; rows of other calls come first.
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
    table = parsed(text, "the table");
  }

  // With one seed, texts do not name it.
  ExtrapolationTable parsed(const std::string& text, const std::string& where) const {
    ExtrapolationTable table = parse_extrapolation(text, where);
    for (ExtrapolationRow& row : table.rows) row.seed = row.seed.value_or(options_.data.seed);
    return table;
  }

  // The text that scores depend on goes with the table.
  void save() const {
    Json json = Json::parse(format_json(table_));
    json["text"] = fingerprint(data_.held_out);
    write_file(results_, json.dump(2) + "\n");
  }

  // Takes the rows of results.json that were scored as requested now, also those of other seeds.
  void take_finished_rows() {
    std::error_code ignored;
    if (!std::filesystem::exists(results_, ignored)) return;
    const std::string text = read_file(results_, JsonLimits{}.bytes);
    ExtrapolationTable found = parsed(text, results_);
    const Json json = Json::parse(text);
    const bool same = found.train_length == table_.train_length && found.steps == table_.steps &&
                      found.stride == table_.stride && found.lengths == table_.lengths &&
                      found.scored.first == table_.scored.first &&
                      found.scored.count == table_.scored.count &&
                      json.value("text", "") == fingerprint(data_.held_out);
    if (!same) return;
    table_.rows = std::move(found.rows);
    table_.seeds = std::max(table_.seeds, found.seeds);
  }

  ExtrapolationOptions options_;
  GroupOrSelf group_;
  ExtrapolationData data_;
  const ExtrapolationObserver& observer_;
  std::function<double()> clock_;
  std::string results_;
  ExtrapolationTable table_;  // on the first one with every row that is finished
  std::vector<Piece> missing_;
};

}  // namespace

std::string name_of_run(const ExtrapolationOptions& options,
                        const ExtrapolationProgress& progress) {
  const std::string& label = options.schemes.at(progress.scheme).label;
  if (options.seeds == 1 || progress.doing == "measuring") return label;
  return label + ", seed " + std::to_string(progress.seed);
}

ExtrapolationResult extrapolate(const ExtrapolationOptions& options, const Tokenizer& tokenizer,
                                const std::vector<std::int64_t>& tokens,
                                const std::vector<std::int64_t>& held_out,
                                const ExtrapolationObserver& observer) {
  return Experiment(options, tokenizer, tokens, held_out, observer).run();
}

}  // namespace sextant
