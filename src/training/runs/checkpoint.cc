// Run folders. The checkpoints that have their final name are the truth; `last` and `best` follow
// from them and are set right again when a run is opened.
#include "sextant/training/checkpoint.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "core/files/temporary_file.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/core/tensor_file.h"
#include "training/runs/fsync.h"
#include "training/runs/run_description.h"
#include "training/runs/state_file.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "checkpoint-";
constexpr std::string_view kTemporary = ".tmp";
constexpr std::size_t kDigits = 9;  // at least, so that names sort

std::string name_of_step(std::int64_t step) {
  const std::string digits = std::to_string(step);
  return std::string(kPrefix) + std::string(kDigits - std::min(kDigits, digits.size()), '0') +
         digits;
}

// The step of "checkpoint-000000123".
std::optional<std::int64_t> step_of(const std::string& name) {
  constexpr std::size_t kMaxDigits = 18;
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const std::string digits = name.substr(kPrefix.size());
  if (digits.empty() || digits.size() > kMaxDigits ||
      !std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; })) {
    return std::nullopt;
  }
  const std::int64_t step = std::stoll(digits);
  return name_of_step(step) == name ? std::optional(step) : std::nullopt;
}

std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> names;
  std::error_code problem;
  fs::directory_iterator entry(path, problem);
  for (; !problem && entry != fs::directory_iterator(); entry.increment(problem)) {
    names.push_back(entry->path().filename().string());
  }
  if (problem) throw Error(path, "cannot be read: " + problem.message());
  return names;
}

// Whether write_file() made it in a process that has ended: ".sextant-PID-N.tmp".
bool is_stale(const std::string& name) {
  constexpr std::string_view kStart = ".sextant-";
  if (!name.starts_with(kStart) || !name.ends_with(kTemporary)) return false;
  return is_ended_process(
      std::string_view(name).substr(kStart.size(), name.find('-', kStart.size()) - kStart.size()));
}

void remove_stale(const std::string& path) {
  for (const std::string& name : names_in(path)) {
    const bool checkpoint =
        name.ends_with(kTemporary) && step_of(name.substr(0, name.size() - kTemporary.size()));
    if (checkpoint || is_stale(name) || name == "last.tmp" || name == "best.tmp") {
      remove_folder(path + "/" + name);
    }
  }
}

void check_finite(const Parameters<float>& parameters) {
  for (const auto& [name, tensor, decays] : parameters) {
    for (const float value : tensor->span()) {
      if (!std::isfinite(value)) throw Error("checkpoint." + name, "must be finite");
    }
  }
}

// `path` and the folders above it that are not there yet, deepest first.
std::vector<fs::path> missing_folders(const std::string& path) {
  std::vector<fs::path> missing;
  std::error_code none;
  for (fs::path at = path; !at.empty() && !fs::exists(at, none); at = at.parent_path()) {
    missing.push_back(at);
  }
  return missing;
}

// Checks that a new run may replace the files in the folder: there is no run that could be resumed.
void check_free(const std::string& path) {
  const std::vector<std::string> names = names_in(path);
  const bool described = std::ranges::find(names, "run.json") != names.end();
  for (const std::string& name : names) {
    if (name == "last" || name == "best" || step_of(name) ||
        (name == "metrics.jsonl" && !described)) {
      throw Error(
          path, "must hold no other run, got " + name + ": resume that run or name another folder");
    }
  }
  if (described && !is_description(read_file(path + "/run.json"))) {
    throw Error(path, "must hold no run.json of another program");
  }
}

// The file has to give these parameters back, bit for bit.
void check_saved_model(const std::string& path, const Parameters<float>& parameters) {
  const TensorFile file = TensorFile::open(path);
  bool same = file.tensors().size() == parameters.size();
  for (const auto& [name, tensor, decays] : parameters) {
    const StoredTensor* found = file.find(name);
    same = same && found != nullptr && found->dtype == DType::float32 &&
           found->shape == tensor->shape() &&
           std::ranges::equal(std::as_bytes(tensor->span()), file.bytes(*found));
  }
  if (!same) {
    throw Error("task.save_model",
                "must save the parameters unchanged, by their names, in "
                "float32 in model.safetensors");
  }
}

}  // namespace

struct RunFolder::Held {
  FolderLock lock;
  std::vector<fs::path> made = {};  // folders, deepest first
};

RunFolder::RunFolder(std::string path, std::string description, std::unique_ptr<Held> held)
    : path_(std::move(path)), description_(std::move(description)), held_(std::move(held)) {}
RunFolder::RunFolder(RunFolder&&) noexcept = default;
RunFolder::~RunFolder() = default;

void RunFolder::check_new(const std::string& path) {
  std::error_code none;
  if (!fs::is_directory(path, none)) return;
  const FolderLock lock(path);
  check_free(path);
}

RunFolder RunFolder::create(const std::string& path, const std::string& description) {
  std::vector<fs::path> made = missing_folders(path);
  make_folder(path);
  auto held = std::make_unique<Held>(Held{FolderLock(path), std::move(made)});
  remove_stale(path);
  check_free(path);
  std::error_code none;
  fs::remove(path + "/metrics.jsonl", none);  // of steps that nothing was kept of
  write_file(path + "/run.json", description);
  sync_folder(path);
  return {path, description, std::move(held)};
}

RunFolder RunFolder::open(const std::string& path) {
  auto held = std::make_unique<Held>(Held{FolderLock(path)});
  RunFolder run(path, read_file(path + "/run.json"), std::move(held));
  remove_stale(path);
  for (const std::string& name : names_in(path)) {
    if (const auto step = step_of(name)) run.last_ = std::max(run.last_.value_or(0), *step);
  }
  if (run.last_) {
    const std::string last = run.folder_of(*run.last_);
    const TrainingState written = read_state(last);
    if (written.step != *run.last_) {
      throw Error(last + "/training.json",
                  "must be of the step in the folder's name, got " + std::to_string(written.step));
    }
    const TrainingState state = run.last_state();
    if (written.best_loss && !state.best_loss) run.lost_best_ = written.best_step;
    run.set_links(state);
    return run;
  }
  for (const char* name : {"/last", "/best"}) {
    std::error_code none;
    const fs::path target = fs::read_symlink(path + name, none);
    if (none) continue;
    throw Error(path + name, "must lead to a checkpoint, got " + target.string() +
                                 ", which is missing: restore it, or start another run");
  }
  return run;
}

void RunFolder::discard() noexcept {
  if (last_) return;
  std::error_code ignored;
  fs::remove(path_ + "/metrics.jsonl", ignored);
  fs::remove(path_ + "/run.json", ignored);
  for (const fs::path& folder : held_->made) fs::remove(folder, ignored);  // where it is empty
}

std::string RunFolder::folder_of(std::int64_t step) const {
  return path_ + "/" + name_of_step(step);
}

// Returns the state of the last checkpoint, without a best one that is missing.
TrainingState RunFolder::last_state() const {
  TrainingState state = read_state(folder_of(*last_));
  std::error_code none;
  if (state.best_loss && !fs::is_directory(folder_of(state.best_step), none)) {
    state.best_loss.reset();
    state.best_step = state.validations_since_best = 0;
  }
  return state;
}

void RunFolder::set_links(const TrainingState& state) const {
  const auto set = [&](const std::string& name, std::int64_t step) {
    std::error_code none;
    if (fs::read_symlink(path_ + "/" + name, none) != name_of_step(step)) {
      replace_link(path_ + "/" + name, name_of_step(step));
    }
  };
  set("last", state.step);
  std::error_code none;
  if (state.best_loss && fs::is_directory(folder_of(state.best_step), none)) {
    return set("best", state.best_step);
  }
  fs::remove(path_ + "/best", none);  // led to a checkpoint that is gone
}

void RunFolder::remove_all_but(std::int64_t last, std::int64_t best) const {
  for (const std::string& name : names_in(path_)) {
    const auto step = step_of(name);
    if (!step || *step == last || *step == best) continue;
    // Under the temporary name first: a checkpoint with its final name is complete.
    const std::string temporary = path_ + "/" + name + std::string(kTemporary);
    rename_folder(path_ + "/" + name, temporary);
    remove_folder(temporary);
  }
}

// Under a temporary name, which becomes the folder's when all is there.
void RunFolder::write(const std::string& folder, TrainingTask& task, Optimiser& optimiser,
                      const TrainingState& state) {
  const std::string temporary = folder + std::string(kTemporary);
  try {
    remove_folder(temporary);
    add_folder(temporary);
    task.save_model(temporary);
    if (!model_checked_) {
      check_saved_model(temporary + "/model.safetensors", task.parameters());
    }
    model_checked_ = true;
    save_parameters(temporary + "/optimiser.safetensors", optimiser.state());
    write_state(temporary, state);
    sync_folder(temporary);
    rename_folder(temporary, folder);
  } catch (...) {
    remove_folder(temporary);
    throw;
  }
}

void RunFolder::save(TrainingTask& task, Optimiser& optimiser, const TrainingState& state) {
  if (optimiser.steps() != state.step || (last_ && state.step <= *last_)) {
    throw Error("checkpoint.step", "must be the optimiser's and above the last one's, got " +
                                       std::to_string(state.step));
  }
  check_finite(task.parameters());
  check_finite(optimiser.state());
  while (true) {
    path_ = held_->lock.find(path_);
    try {
      write(folder_of(state.step), task, optimiser, state);
      break;
    } catch (...) {
      if (held_->lock.find(path_) == path_) throw;  // else it was moved meanwhile
    }
  }
  last_ = state.step;
  set_links(state);
  remove_all_but(state.step, state.best_loss ? state.best_step : state.step);
}

TrainingState RunFolder::load(TrainingTask& task, Optimiser& optimiser) const {
  if (!last_) return {};
  const std::string folder = folder_of(*last_);
  check_files(folder);
  TrainingState state = last_state();
  const Parameters<float> of_optimiser = optimiser.state();
  std::vector<Tensor<float>> loaded;
  for (const auto& each : of_optimiser) loaded.emplace_back(each.tensor->shape());
  Parameters<float> into = of_optimiser;
  for (std::size_t i = 0; i < into.size(); ++i) into[i].tensor = &loaded[i];
  load_parameters(folder + "/optimiser.safetensors", into);
  load_parameters(folder + "/model.safetensors", task.parameters());
  for (std::size_t i = 0; i < into.size(); ++i) *of_optimiser[i].tensor = std::move(loaded[i]);
  optimiser.set_steps(state.step);
  remove_all_but(state.step, state.best_loss ? state.best_step : state.step);
  return state;
}

}  // namespace sextant
