// `sextant train`: train a small transformer on your text, on this machine or on ranks of MPI.
#include <memory>

#include "commands.h"
#include "training/on_ranks.h"
#include "training/train_options.h"
#include "training/train_run.h"

namespace sextant::app {

void add_train(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand(
      "train",
      "train a small transformer on your text\n"
      "Trains a language model (lm), a masked language model (mlm) or a translator (translate) on "
      "your files, or a translator on built-in data: English dates (dates), letters that are "
      "copied, reversed or sorted (copy, reverse, sort). The folder contains the best and the last "
      "model with their tokenizer, the metrics of every step and a picture of them. A "
      "stopped run continues with --resume, bit for bit as if it had not stopped.");
  auto options = std::make_shared<TrainOptions>();
  options->add_to(command);
  command.footer(
      "Examples:\n"
      "  sextant train dates -o dates\n"
      "  sextant train reverse --scheme none -o reverse\n"
      "  sextant train lm --file plays.txt --minutes 20 -o plays\n"
      "  sextant train lm --file plays.txt --tokenizer subword --scheme alibi --steps 2000 -o run\n"
      "  sextant train translate --pairs train.tsv --valid valid.tsv --pointer --minutes 60 -o "
      "run\n"
      "  sextant train --resume -o run --minutes 90\n"
      "  mpirun -n 4 sextant train lm --file plays.txt --minutes 20 -o plays\n"
      "  mpirun -n 4 sextant train lm --file plays.txt --length 65536 --batch-size 2 "
      "--context-parallel 4 --steps 500 -o long\n"
      "mpirun needs a build with MPI. Ctrl-C saves and ends with exit code 130; a closed terminal "
      "saves too.");
  command.callback([options, &command, &job] {
    options->check(command);
    if (!options->resume) options->plan(command);  // throws for mistakes in the options alone
    job = [options, &command] {
      if (options->print_call.is_given()) return options->print_call.print(options->call(command));
      on_ranks(
          command, [&](TrainingGroup* group) { return run_training(*options, command, group); },
          options->context_parallel);
    };
  });
}

}  // namespace sextant::app
