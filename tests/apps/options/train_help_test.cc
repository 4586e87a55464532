// The defaults in the help of `train` are those of the plans of all tasks.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "apps/options/help_text.h"
#include "models/transformer_fields.h"
#include "text/tokenizer_fields.h"
#include "training/tasks/task_fields.h"

namespace sextant::app_tests {
namespace {

// "192; translate 256, dates 64": of one task.
std::string default_of(const std::string& text, const std::string& task) {
  const auto others = text.find("; ");
  if (others == text.npos) return text;
  std::istringstream list(text.substr(others + 2));
  for (std::string one; std::getline(list >> std::ws, one, ',');) {
    const auto space = one.rfind(' ');
    if ((" " + one.substr(0, space) + " ").find(" " + task + " ") != one.npos) {
      return one.substr(space + 1);
    }
  }
  return text.substr(0, others);
}

// The numbers and names of a plan are the defaults of the options with their names.
TEST(TrainHelp, SaysTheDefaultsOfEveryTask) {
  std::map<std::string, HelpRow> rows;
  int with_default = 0;
  for (const HelpGroup& group : help_of("train").groups) {
    if (group.title == "The scheme") continue;  // its options have lists of their own
    for (const HelpRow& row : group.rows) {
      with_default += row.default_text.empty() ? 0 : 1;
      rows[row.name] = row;
    }
  }
  const std::map<std::string, std::string> names{{"peak", "--rate"},
                                                 {"clip_norm", "--clip"},
                                                 {"method", "--optimizer"},
                                                 {"minimum_count", "--min-count"},
                                                 {"kind", "--tokenizer"}};
  for (const std::string task : kTrainingKinds) {
    int compared = 0;
    const auto compare = [&]<class Options>(const Options& options,
                                            std::vector<std::string_view> others = {}) {
      each_field<Options>([&](const auto& field) {
        const auto& value = options.*field.member;
        using Value = std::remove_cvref_t<decltype(value)>;
        if constexpr (!kIsListOfStructs<Value>) {
          const auto renamed = names.find(std::string(field.name));
          const auto found =
              rows.find(renamed == names.end() ? "--" + with(std::string(field.name), "_", "-")
                                               : renamed->second);
          if (found == rows.end() || found->second.default_text.empty()) return;
          if (std::ranges::find(others, field.name) != others.end()) return;
          EXPECT_EQ(default_of(found->second.default_text, task), option_text(value))
              << task << " " << field.name;
          ++compared;
        }
      });
    };
    const TrainingPlan plan = default_plan(task);
    compare(plan.settings);
    compare(plan.settings.task, {"seed"});
    compare(plan.settings.tokenizer);
    compare(plan.trainer);
    compare(plan.epochs);
    compare(plan.trainer.optimiser);
    compare(plan.trainer.schedule, {"decay", "warmup", "steps"});  // they follow from --steps
    compare(plan.settings.model, {"kind", "vocabulary", "length", "seed"});
    EXPECT_EQ(compared + 4, with_default)
        << "all but --decay, --warmup, --vocabulary and --context-parallel";
  }
}

}  // namespace
}  // namespace sextant::app_tests
