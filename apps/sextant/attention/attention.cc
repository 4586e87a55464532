// `sextant attention`: the operator on arrays from files, for scripts in any language.
#include <memory>

#include "attention/attention_command.h"
#include "calls/calls.h"
#include "commands.h"
#include "options/launcher.h"
#include "options/options.h"

namespace sextant::app {
namespace {

// Why the operator cannot take a scheme.
std::string why_it_cannot_attend(const Scheme& scheme) {
  if (scheme.kind != SchemeKind::added) return "";
  return "must be a scheme that acts on q, k or scores; an added one acts on the embeddings that q "
         "and k are made of";
}

}  // namespace

void add_attention(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand(
      "attention",
      "the operator on arrays from .npy files\n"
      "Computes softmax(scale q k^T + biases and masks) v of arrays from .npy files, and its "
      "gradients. float32, bfloat16 and float16 run on fast kernels; float64 is computed in "
      "float64, for reference. Files are written after everything has been computed, each complete "
      "or not at all.");
  auto attention = std::make_shared<AttentionCommand>();
  add_attention_options(command, *attention);
  add_threads(command, attention->threads);
  command.add_flag(
      "--explain", attention->explain,
      "print which kernel runs, its tiles, threads and memory; without -o nothing is computed");
  command.add_flag("--json", attention->json, "print a summary: files, shapes, types, options");
  attention->choice.add_to(command, "none", why_it_cannot_attend, true);
  attention->call.add_to(command);
  command.footer(
      "Examples:\n"
      "  sextant attention --q q.npy --k k.npy --v v.npy -o out.npy --causal top_left\n"
      "  sextant attention --q q.npy --k k.npy --v v.npy -o out.npy --alibi --causal top_left "
      "--window 511,0\n"
      "  sextant attention --q q.npy --k k.npy --v v.npy --weights w.npy --stage probabilities\n"
      "  sextant attention --q q.npy --k k.npy --v v.npy -o out.npy --dout dout.npy --dq dq.npy "
      "--dk dk.npy --dv dv.npy\n"
      "  sextant attention --q q.npy --k k.npy --v v.npy --rotary-base 10000 --explain\n"
      "  sextant attention --q q.npy --k k.npy --v v.npy -o out.npy --scheme t5 --scheme-weights "
      "t5.safetensors --causal top_left\n"
      "  mpirun -n 4 sextant attention --q q.npy --k k.npy --v v.npy -o out.npy --causal top_left "
      "--ranks auto --divide zigzag");
  command.callback([attention, &command, &job] {
    check_attention(*attention);
    job = [attention, &command] {
      if (attention->call.is_given()) return attention->call.print(call_of(*attention));
      if (attention->ranks.is_given()) return run_attention_on_ranks(*attention, command);
      check_started_alone("attention.ranks", "must be given");
      run_attention(*attention);
    };
  });
}

}  // namespace sextant::app
