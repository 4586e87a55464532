// Shares the state and decisions that must be equal on all ranks of a group.
#include "training/gradients/group_or_self.h"

#include "core/json/fields_json.h"
#include "sextant/kernels.h"
#include "training/gradients/gradient_tree.h"
#include "training/gradients/slices.h"
#include "training/training_fields.h"

namespace sextant {
namespace {

template <class T>
std::span<std::byte> bytes_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

template <class T>
void broadcast_value(TrainingGroup& group, T& value) {
  group.broadcast(bytes_of(value));
}

}  // namespace

std::int64_t GroupOrSelf::parts(std::int64_t batches) const noexcept {
  return group_ == nullptr ? batches : batches * group_->context_parallel_size();
}

std::pair<std::int64_t, std::int64_t> GroupOrSelf::own_parts(std::int64_t batches) const {
  if (group_ == nullptr) return {0, batches};
  return parts_of_rank(parts(batches), group_->rank(), group_->size());
}

void GroupOrSelf::run_or_fail_on_all(const std::function<void()>& work) const {
  if (group_ == nullptr) return work();
  group_->run_or_fail_on_all(work);
}

void GroupOrSelf::run_collective(const std::function<void()>& work) const {
  if (group_ == nullptr) return work();
  group_->run_collective(work);
}

std::function<double()> GroupOrSelf::clock(std::function<double()> own) const {
  if (group_ == nullptr) return own;
  return [group = group_, own = std::move(own)] {
    double seconds = group->rank() == 0 ? own() : 0;
    broadcast_value(*group, seconds);
    return seconds;
  };
}

bool GroupOrSelf::distribute(std::int64_t count, const TrainingGroup::Work& work) const {
  if (group_ != nullptr) return group_->distribute(count, work);
  for (std::int64_t piece = 0; piece < count; ++piece) {
    const std::optional<std::string> result = work.run(piece);
    if (!result) return false;
    work.on_result(piece, *result);
  }
  return true;
}

void GroupOrSelf::check_same(const std::function<Values()>& values) const {
  if (group_ != nullptr) group_->check_same(values());
}

void GroupOrSelf::check_same(const TrainerOptions& options,
                             const Parameters<float>& parameters) const {
  if (group_ == nullptr) return;
  std::vector<std::pair<std::string, std::string>> values;
  const auto add = [&values](std::string name, const Json& value) {
    values.emplace_back(std::move(name), value.dump());
  };
  const auto add_all = [&add](const std::string& of, const Json& json) {
    for (const auto& [name, value] : json.items()) add(of + "." + std::string(name), value);
  };
  add("trainer.group.context_parallel_size", group_->context_parallel_size());
  add("trainer.folder", options.folder.empty() ? "none" : "given");
  add("trainer.resume", options.resume);
  each_field<TrainerOptions>([&](const auto& one) {
    if (one.name != "threads") add("trainer." + std::string(one.name), options.*one.member);
  });
  add_all("optimiser", to_json(options.optimiser));
  add_all("schedule", to_json(options.schedule));
  add_all("trainer.settings", Json::parse(options.settings));
  values.emplace_back("SEXTANT_TARGET", chosen_target());
  for (const auto& [name, tensor, decays] : parameters) {
    values.emplace_back("task.parameters." + name, tensor->shape().to_string());
  }
  group_->check_same(values);
}

void GroupOrSelf::check_same_step(std::int64_t targets, std::int64_t batches) const {
  if (group_ == nullptr) return;
  group_->check_same(
      {{"task.target_tokens", std::to_string(targets)}, {"task.batches", std::to_string(batches)}});
}

void GroupOrSelf::check_same_validation(std::int64_t batches) const {
  if (group_ != nullptr) {
    group_->check_same({{"task.validation_batches", std::to_string(batches)}});
  }
}

void GroupOrSelf::broadcast(const Parameters<float>& parameters, Optimiser& optimiser,
                            TrainingState& state) const {
  if (group_ == nullptr) return;
  for (const auto& list : {parameters, optimiser.state()}) {
    for (const auto& each : list) group_->broadcast(std::as_writable_bytes(each.tensor->span()));
  }
  broadcast_value(*group_, state.step);
  broadcast_value(*group_, state.seconds);
  broadcast_value(*group_, state.tokens);
  broadcast_value(*group_, state.mean_loss);
  broadcast_value(*group_, state.best_step);
  broadcast_value(*group_, state.validations_since_best);
  bool has_best = state.best_loss.has_value();
  double best = state.best_loss.value_or(0);
  broadcast_value(*group_, has_best);
  broadcast_value(*group_, best);
  if (has_best) state.best_loss = best;
  optimiser.set_steps(state.step);
}

void GroupOrSelf::broadcast_number(std::int64_t& number) const {
  if (group_ != nullptr) broadcast_value(*group_, number);
}

void GroupOrSelf::broadcast_text(std::string& text) const {
  if (group_ == nullptr) return;
  auto size = static_cast<std::int64_t>(text.size());
  broadcast_value(*group_, size);
  text.resize(static_cast<std::size_t>(size));
  group_->broadcast(std::as_writable_bytes(std::span(text)));
}

LossSum GroupOrSelf::add_up(std::vector<LossSum> losses, std::int64_t batches) const {
  if (group_ != nullptr) {
    std::vector<std::int64_t> ends{0};
    for (int rank = 0; rank < group_->size(); ++rank) {
      const auto parts = static_cast<std::int64_t>(losses.size());
      ends.push_back(parts_of_rank(parts, rank, group_->size()).second *
                     static_cast<std::int64_t>(sizeof(LossSum)));
    }
    start_all_gather(*group_, std::as_writable_bytes(std::span(losses)), ends)->finish();
  }
  LossSum sum;
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    for (std::size_t part = static_cast<std::size_t>(batch); part < losses.size();
         part += static_cast<std::size_t>(batches)) {
      sum.add(losses[part]);
    }
  }
  return sum;
}

}  // namespace sextant
