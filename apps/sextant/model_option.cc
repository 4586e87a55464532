// --model DIR and --threads.
#include "model_option.h"

#include <algorithm>

#include "options.h"
#include "sextant/core/error.h"

namespace sextant::app {

std::string described(ModelKind kind) {
  switch (kind) {
    case ModelKind::causal:
      return "a causal language model";
    case ModelKind::masked:
      return "a masked language model";
    case ModelKind::translator:
      break;
  }
  return "a translator";
}

CLI::Option* ModelOption::add_to(CLI::App& command) {
  constexpr std::int64_t kMostThreads = 1 << 16;
  where_ = command.get_name() + ".model";
  add_integer(command, "--threads", threads, 0, kMostThreads,
              "0: all cores (default 0); never changes a bit");
  return command
      .add_option("--model", folder,
                  "the model's folder, or that of a training run: its best model then")
      ->type_name("DIR");
}

ModelFolder ModelOption::open(std::initializer_list<ModelKind> kinds) const {
  if (folder.empty()) throw Error(where_, "must be a model's folder, got ''");
  ModelFolder opened = open_model_folder(folder);
  if (std::find(kinds.begin(), kinds.end(), opened.config.kind) != kinds.end()) return opened;
  std::string allowed;
  for (const ModelKind kind : kinds) {
    allowed += (allowed.empty() ? "" : " or ") + described(kind);
  }
  throw Error(where_, "must be " + allowed + ", got " + described(opened.config.kind) + " in " +
                          opened.path);
}

}  // namespace sextant::app
