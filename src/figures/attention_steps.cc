// The steps of attention as pictures and JSON.
#include "sextant/figures/attention_steps.h"

#include <algorithm>
#include <utility>

#include "core/json/json_text.h"
#include "figures/sentence_json.h"
#include "sextant/core/error.h"
#include "sextant/figures/attention_maps.h"
#include "sextant/figures/named_scheme.h"

namespace sextant::figures {
namespace {

bool has_heads(const View<const double>& table) { return table.rank() == 3; }

// Steps between the scores and the weights have a number per pair of words.
bool is_of_pairs(AttentionStep step) {
  return step >= AttentionStep::scores && step <= AttentionStep::weights;
}

bool is_of_keys(AttentionStep step) {
  using enum AttentionStep;
  return step == key_embeddings || step == key_positions || step == key_inputs || step == k ||
         step == v || step == rotated_k;
}

// The learned matrices, which have no words.
bool is_of_weights(AttentionStep step) {
  using enum AttentionStep;
  return step == w_q || step == w_k || step == w_v || step == w_out;
}

std::string step_title(AttentionStep step, const SentenceAttentionOptions& options) {
  std::string name(name_of(step));
  std::replace(name.begin(), name.end(), '_', ' ');
  if (name.size() > 1) name = capital(name);  // q, k and v are written so
  return name + ", " + title_of(options.schemes) + (options.causal ? ", causal" : "");
}

Picture draw_step(const AttentionSteps& steps, AttentionStep step, const View<const double>& table,
                  const TableLabels& labels, std::vector<std::string> titles,
                  std::optional<double> max_width) {
  HeatmapPanels chart;
  chart.max_width = max_width.value_or(chart.max_width);
  chart.values = table;
  if (titles.size() > 1 || has_heads(table)) chart.titles = std::move(titles);
  chart.title = labels.title;
  chart.x_label = labels.column_name;
  chart.y_label = labels.row_name;
  chart.map = labels.map;
  chart.hides = labels.hides;
  chart.low = labels.low;
  chart.high = labels.high;
  if (!is_of_weights(step)) chart.row_labels = is_of_keys(step) ? steps.keys : steps.queries;
  if (is_of_pairs(step)) chart.column_labels = steps.keys;
  return draw(chart);
}

}  // namespace

View<const double> step_table(const AttentionSteps& steps, AttentionStep step, std::int64_t head) {
  const View<const double> table = steps[step].view();
  return has_heads(table) ? chosen_heads(table, head) : table;
}

Figure plot_step(const AttentionSteps& steps, AttentionStep step,
                 const SentenceAttentionOptions& options, std::int64_t head,
                 std::optional<double> max_width) {
  const View<const double> table = step_table(steps, step, head);
  const std::int64_t panels = has_heads(table) ? table.size(0) : 1;
  const std::int64_t rows = table.size(table.rank() - 2), columns = table.size(table.rank() - 1);
  Figure figure{{}, Tensor<double>({panels * rows, columns}), {}, {}};
  std::copy_n(table.data(), table.count(), figure.values.data());
  TableLabels& labels = figure.labels;
  labels.title = step_title(step, options);
  labels.row_name = is_of_weights(step) ? "Channel made" : is_of_keys(step) ? "Keys" : "Queries";
  labels.column_name = is_of_pairs(step)     ? "Keys"
                       : is_of_weights(step) ? "Channel read"
                                             : "Channel";
  labels.hides = is_of_pairs(step);
  if (is_of_weights(step)) {
    labels.column_label = [bias = columns - 1](std::int64_t column) {
      return column == bias ? "bias" : std::to_string(column);
    };
  }
  if (step == AttentionStep::weights) {
    labels.map = ColorMap::sequential;
    labels.low = 0;
    labels.high = 1;
  }
  const auto& words = is_of_keys(step) ? steps.keys : steps.queries;
  const auto name_of_head = [head](std::int64_t panel) {
    return "Head " + std::to_string(head < 0 ? panel : head);
  };
  const bool heads = has_heads(table);
  if (!is_of_weights(step)) {
    labels.row_label = [words, rows, heads, name_of_head](std::int64_t row) {
      const std::string& word = words[static_cast<std::size_t>(row % rows)];
      return heads ? name_of_head(row / rows) + ", " + word : word;
    };
  }
  if (is_of_pairs(step)) figure.columns = steps.keys;
  std::vector<std::string> titles;
  for (std::int64_t panel = 0; panel < panels; ++panel) titles.push_back(name_of_head(panel));
  figure.picture = draw_step(steps, step, table, labels, std::move(titles), max_width);
  return figure;
}

std::string steps_json(const AttentionSteps& steps, const SentenceAttentionOptions& options,
                       std::int64_t head) {
  Json json = sentence_json(steps.queries, steps.keys, options);
  json["heads"] = options.heads;
  if (head >= 0) json["head"] = head;
  for (std::size_t i = 0; i < kAttentionSteps; ++i) {
    const auto step = static_cast<AttentionStep>(i);
    json["steps"][std::string(name_of(step))] = rows_as_json(step_table(steps, step, head));
  }
  for (std::size_t i = 0; i < kAttentionSteps; ++i) {
    const auto step = static_cast<AttentionStep>(i);
    json["meanings"][std::string(name_of(step))] = meaning_of(step);
  }
  return to_text(json);
}

}  // namespace sextant::figures
