// The options of `sextant train`, and the plan that they make.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "calls/printed_call.h"
#include "options/command_line.h"
#include "options/scheme_choice.h"
#include "training/plan_parts.h"

namespace sextant::app {

struct TrainOptions {
  std::string kind;
  std::string folder;
  bool resume = false;
  bool json = false;
  bool json_lines = false;
  CallChoice print_call;
  int context_parallel = 1;  // of MPI, that hold a part of each sequence

  void add_to(CLI::App& command);
  // Throws Error for options that the task would ignore, and CLI::RequiredError for missing ones.
  void check(const CLI::App& command) const;
  // Returns the defaults of the task, or with --resume the settings in run.json, changed by the
  // given options.
  TrainingPlan plan(const CLI::App& command) const;
  PrintedCall call(const CLI::App& command) const;

 private:
  // The options of one part of a plan.
  template <class Options>
  void add(CLI::App& command, const PlanPart<Options>& part);

  void move_files(TrainingPlan& plan) const;

  std::vector<std::string> texts_;
  std::string pairs_, valid_, from_, tokenizer_from_;
  SchemeChoice choice_;
  std::vector<LayerSchemes> layer_schemes_;
  SchemeSpecs decoder_schemes_;
  std::vector<std::function<void(TrainingPlan&)>> given_;
  std::set<std::string> of_model_;  // options that define a model and its tokenizer
  std::set<std::string> of_tokenizer_;
  std::map<std::string, std::string> kinds_;  // "--pointer" -> "translate dates"
};

}  // namespace sextant::app
