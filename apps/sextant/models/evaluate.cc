// `sextant evaluate`: how good a trained model is, on pairs of sentences or on a text.
#include <memory>

#include "commands.h"
#include "models/evaluate_command.h"
#include "models/generation_fields.h"
#include "options/field_options.h"
#include "options/file_arguments.h"
#include "options/options.h"

namespace sextant::app {

void add_evaluate(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand(
      "evaluate",
      "the quality of a trained model: BLEU, perplexity\n"
      "--pairs: translates the first side of every pair and compares the result with the second: "
      "BLEU as sacreBLEU computes it (13a, cased), exact matches, and the perplexity of the "
      "references. --file: computes the perplexity per token and "
      "bits per character.");
  auto evaluate = std::make_shared<Evaluate>();
  evaluate->model.add_to(command, true)->required();
  auto* pairs = input_file(command.add_option(
      "--pairs", evaluate->pairs, "a file of pairs, one per line, sides separated by a tab"));
  auto* text =
      input_file(command.add_option("--file", evaluate->text, "a file of text"))->excludes(pairs);
  add_search(command, evaluate->options.search);
  command.add_flag("--reverse", evaluate->reverse, "translate the second side into the first");
  add_integer(command, "--limit", evaluate->limit, 1, kMaxInteger, "use only the first N pairs");
  output_file(
      command.add_option("-o,--output", evaluate->output, "save the translations, one per line"));
  add_fields(command, evaluate->windows, "",
             only<TextWindows>({{.field = "length"}, {.field = "stride"}}));
  command.add_flag("--json", evaluate->json, "one object with all numbers");
  for (const char* of_pairs : {"--beams", "--length-penalty", "--reverse", "--limit", "--output"}) {
    text->excludes(command.get_option(of_pairs));
  }
  for (const char* of_text : {"--length", "--stride"}) pairs->excludes(command.get_option(of_text));
  command.footer(
      "Examples:\n"
      "  sextant evaluate --model runs/plays --pairs valid.tsv --beams 4 -o translations.txt\n"
      "  sextant evaluate --model runs/plays --pairs valid.tsv --beams 1 --limit 200 --json\n"
      "  sextant evaluate --model runs/letters --file test.txt --length 256 --stride 32");
  command.callback([evaluate, pairs, text, &job] {
    if (pairs->count() + text->count() == 0) throw CLI::RequiredError("--pairs or --file");
    const TextWindows& windows = evaluate->windows;
    if (windows.length > 0 && windows.stride > 0) check_stride(windows.length, windows.stride);
    const bool is_text = text->count() > 0;
    job = [evaluate, is_text] { is_text ? evaluate_text(*evaluate) : evaluate_pairs(*evaluate); };
  });
}

}  // namespace sextant::app
