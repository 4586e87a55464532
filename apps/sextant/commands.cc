// All commands, in the order of the help.
#include "commands.h"

namespace sextant::app {

void add_commands(CLI::App& program, Job& job) {
  add_encode(program, job);
  add_plot(program, job);
  add_attend(program, job);
  add_attention(program, job);
  add_compare(program, job);
  add_extrapolate(program, job);
  add_similarity(program, job);
  add_embed(program, job);
  add_recommend(program, job);
  add_vocabulary(program, job);
  add_tokenize(program, job);
  add_convert_rotary(program, job);
  add_identify(program, job);
  add_generate(program, job);
  add_translate(program, job);
  add_guess(program, job);
  add_evaluate(program, job);
  add_train(program, job);
  add_average(program, job);
  add_report(program, job);
  add_list(program, job);
  add_info(program, job);
}

}  // namespace sextant::app
