// Implements `sextant attend --step`: everything that attention computes between words and output.
#include <utility>

#include "attention/attend_command.h"
#include "core/text/strings.h"
#include "options/choices.h"
#include "sextant/core/error.h"
#include "sextant/figures/attention_steps.h"
#include "streams/console.h"

namespace sextant::app {
namespace {

constexpr std::string_view kAllSteps = "all";

std::vector<std::string_view> step_names() {
  auto names = names_of<AttentionStep>();
  names.push_back(kAllSteps);
  return names;
}

void write_all(const Attend& attend, const AttentionSteps& steps) {
  const auto format = attend.output.format(kAttendFormats, "attend");
  if (format != Format::json) {
    throw Error("attend.step", "must be one step for " +
                                   std::string(name_of(format.value_or(Format::text))) +
                                   "; all of them are --json");
  }
  write_result(attend.output, Format::json,
               figures::steps_json(steps, attend.options, attend.head) + "\n");
}

}  // namespace

void add_steps(CLI::App& command, Attend& attend) {
  auto* step = command.add_option(
      "--step", attend.step,
      "show one step of the computation: " + joined(step_names(), " | ") + " (all: --json only)");
  offer(step->type_name("NAME"), step_names());
}

void attend_step(const Attend& attend, const std::vector<std::string>& first,
                 const std::vector<std::string>& second) {
  const bool all = attend.step == kAllSteps;
  const auto step =
      all ? AttentionStep::weights : parse_name<AttentionStep>(attend.step, "attend.step");
  const AttentionSteps steps = attention_steps(first, second, attend.options);
  if (all) {
    double numbers = 0;
    for (const auto& table : steps.tables) numbers += static_cast<double>(table.count());
    check_written(attend, numbers);
    return write_all(attend, steps);
  }
  const View<const double> table = figures::step_table(steps, step, attend.head);
  check_written(attend, static_cast<double>(table.count()));
  figures::Figure figure =
      figures::plot_step(steps, step, attend.options, attend.head, attend.output.max_width);
  TableNames names;
  static_cast<figures::TableLabels&>(names) = figure.labels;
  names.draw = [&figure] { return figure.picture; };
  names.about = {{"step", name_of(step)},
                 {"meaning", meaning_of(step)},
                 {"queries", steps.queries},
                 {"keys", steps.keys}};
  const Format format = attend.output.format(kAttendFormats, "attend").value_or(Format::text);
  const bool keeps_heads = format == Format::json || format == Format::npy;
  write_table<double>(keeps_heads ? table : std::as_const(figure.values).view(), names,
                      attend.output, format);
}

}  // namespace sextant::app
