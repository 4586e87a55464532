// What a backward pass calls ready gets nothing more from it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "training/small_tasks.h"

namespace sextant {
namespace {

std::vector<float> values_from(const Parameters<float>& gradients, std::size_t first) {
  std::vector<float> values;
  for (std::size_t i = first; i < gradients.size(); ++i) {
    const auto all = gradients[i].tensor->span();
    values.insert(values.end(), all.begin(), all.end());
  }
  return values;
}

// The names of what was called ready, in order.
std::vector<std::string> ready_in(TrainingTask& task) {
  const Parameters<float> gradients = task.gradients();
  struct Call {
    std::size_t first;
    std::vector<float> values;
  };
  std::vector<Call> calls;
  std::vector<std::string> names;
  Workspace memory;
  Pass pass{.memory = memory, .dropout = 0.2};
  pass.on_gradients_ready = [&](const void* data) {
    const auto found = std::ranges::find_if(
        gradients, [&](const auto& each) { return each.tensor->data() == data; });
    ASSERT_NE(found, gradients.end());
    const auto first = static_cast<std::size_t>(found - gradients.begin());
    calls.push_back({first, values_from(gradients, first)});
    names.push_back(found->name);
  };
  task.accumulate(0, 0, 1, pass);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    EXPECT_EQ(calls[i].values, values_from(gradients, calls[i].first)) << names[i];
    EXPECT_TRUE(i == 0 || calls[i].first < calls[i - 1].first) << names[i];
  }
  return names;
}

TEST(Ready, GradientsOfLanguageModelsGetNothingMore) {
  for (const ModelKind kind : {ModelKind::causal, ModelKind::masked}) {
    LanguageTask task = language_task(kind, 1);
    EXPECT_THAT(ready_in(task),
                testing::ElementsAre("stack.final_norm.gain", "stack.1.self.in.weight",
                                     "stack.0.self.in.weight"));
  }
}

TEST(Ready, GradientsOfTranslatorsGetNothingMore) {
  TranslationTask task = translation_task(1);
  EXPECT_THAT(ready_in(task),
              testing::ElementsAre("decoder.final_norm.gain", "decoder.1.self.in.weight",
                                   "decoder.0.self.in.weight", "encoder.final_norm.gain",
                                   "encoder.1.self.in.weight", "encoder.0.self.in.weight"));
}

}  // namespace
}  // namespace sextant
