// `sextant attend`: a text looks at itself, or at another one.
#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "attention/attend_command.h"
#include "calls/calls.h"
#include "commands.h"
#include "lessons/sentence_fields.h"
#include "options/field_options.h"
#include "options/file_arguments.h"
#include "options/options.h"
#include "sextant/core/error.h"
#include "sextant/lessons/attention_steps.h"
#include "streams/console.h"

namespace sextant::app {
namespace {

// The options of trained models, and those of both kinds; the rest are of random weights.
constexpr std::string_view kOfTrained[] = {
    "TARGET",           "--part",       "--layer",   "--without-positions",
    "--replace-scheme", "--replace-in", "--read-as", "--threads",
    "--overview",       "--rows",       "--image",   "--dtype"};
constexpr std::string_view kOfBoth[] = {"TEXT",     "--file",      "--second",    "--head",
                                        "--lines",  "--max-width", "--json",      "--output",
                                        "--format", "--model",     "--print-call"};
// Options for word vectors without weights.
constexpr std::string_view kOfVectors[] = {"TEXT",         "--file",  "--vectors",   "--split",
                                           "--lower-case", "--lines", "--max-width", "--json",
                                           "--output",     "--format"};

// Options for an image model.
constexpr std::string_view kOfImages[] = {
    "--image",     "--model",  "--layer",  "--head", "--rows",    "--overview", "--lines",
    "--max-width", "--output", "--format", "--json", "--threads", "--dtype"};

// Throws Error for an option that would be ignored.
void check_only(const CLI::App& command, std::span<const std::string_view> allowed,
                const char* where, const std::string& why) {
  for (const CLI::Option* option : command.get_options()) {
    const std::string name =
        option->get_positional() ? option->get_name() : "--" + option->get_lnames()[0];
    if (option->count() == 0 || std::ranges::find(allowed, name) != allowed.end()) continue;
    throw Error(where, "must not be combined with " + name + ": " + why);
  }
}
void check_kind(const CLI::App& command, bool is_trained) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0) continue;
    const std::string name =
        option->get_positional() ? option->get_name() : "--" + option->get_lnames()[0];
    if (std::ranges::find(kOfBoth, name) != std::end(kOfBoth)) continue;
    if ((std::ranges::find(kOfTrained, name) != std::end(kOfTrained)) == is_trained) continue;
    throw Error("attend.model",
                is_trained ? "must not be combined with " + name + ": the model has its own"
                           : "must be given with " + name);
  }
}

void check(const CLI::App& command, const Attend& attend, bool is_trained) {
  const bool is_image = is_trained && !attend.image.empty();
  if (!is_image) attend.text.check("attend.text");
  if (!attend.vectors.empty()) {
    check_only(command, kOfVectors, "attend.vectors", "no weights and no positions");
  } else if (is_image) {
    check_only(command, kOfImages, "attend.image", "an image has no text");
  } else {
    check_kind(command, is_trained);
  }
  attend.choice.check();
  if (!is_trained) figures::check_head(attend.head, attend.options.heads);
  const auto format = attend.output.format(kAttendFormats, "attend");
  if (attend.lines && !attend.step.empty()) {
    throw Error("attend.lines", "must not be combined with --step: lines show the weights");
  }
  if (!attend.step.empty() && attend.step != "all") {
    parse_name<AttentionStep>(attend.step, "attend.step");
  }
  const bool is_single = format && is_picture(*format) && format != Format::html;
  for (const auto& [given, name] : {std::pair(attend.lines, "lines"),
                                    std::pair(attend.output.max_width.has_value(), "max-width")}) {
    if (!given || is_single) continue;
    throw Error(std::string("attend.") + name,
                "must be given with svg, png or pdf, got it with " +
                    std::string(name_of(format.value_or(Format::text))));
  }
}

void run(Attend& attend) {
  attend.options.schemes = attend.choice.positions();
  const auto first =
      attend.splitting.tokens(attend.text.read("attend.text", kLongestShownText), "attend.text");
  std::vector<std::string> second;
  if (attend.second_option->count() > 0) {
    second = attend.splitting.tokens(read_text(attend.second, "attend.second", kLongestShownText),
                                     "attend.second");
  }
  const auto queries = static_cast<double>(first.size());
  if (attend.call.is_given()) return attend.call.print(call_of(attend, first, second));
  check_written(attend, static_cast<double>(attend.head < 0 ? attend.options.heads : 1) * queries *
                            (second.empty() ? queries : static_cast<double>(second.size())));
  const auto weights = attend.choice.weights();
  attend.options.weights = weights ? &*weights : nullptr;
  if (!attend.step.empty()) return attend_step(attend, first, second);
  const SentenceAttention result = attend_sentences(first, second, attend.options);
  const bool one_text = attend.second_option->count() == 0;
  const HeadMaps maps = figures::maps_of(result, attend.options, attend.head);
  write_maps(
      attend, maps, [&] { return attention_json(maps, attend.options, one_text); },
      [&] { return attention_page(maps, attend.options, one_text); });
}

}  // namespace

void add_attend(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand(
      "attend",
      "attention maps of a text\n"
      "Shows the attention weights of a text, softmax(q k^T / sqrt(head width)), of a model with "
      "seeded random weights. A word's vector depends on the word and the seed only, so only the "
      "positional scheme tells two equal words apart. With --model it shows the attention of a "
      "trained model, by part and layer; a page (-o x.html) has all of them.");
  auto attend = std::make_shared<Attend>();
  attend->text.add_to(command,
                      "the text whose words are the queries; for a translator, the source");
  attend->target_option = text_or_stdin(command.add_option(
      "TARGET", attend->second,
      "for a translator: the translation (default: the model's own); for an encoder such as BERT: "
      "the second text of a pair; - reads stdin"));
  attend->second_option =
      text_or_stdin(
          command.add_option(
              "--second", attend->second,
              "the text whose words are the keys; - reads stdin (default: the first text)"))
          ->type_name("TEXT")
          ->excludes(command.get_option("TARGET"));
  auto* model = attend->model.add_to(command);
  command
      .add_option("--part", attend->part,
                  "for a translator: encoder | decoder | cross | copy (default cross); for a "
                  "language model: self")
      ->type_name("P")
      ->check(one_of("attend.part", {"encoder", "decoder", "cross", "copy", "self"}));
  input_file(command.add_option("--vectors", attend->vectors,
                                "self-attention of the words' vectors without learned weights and "
                                "positions, y = W x; lists the words nearest to each y"),
             "FILE.vec");
  input_file(command.add_option("--image", attend->image,
                                "for an image model (ViT, DeiT): the image, [channels, height, "
                                "width], normalised; shows the attention of its patches, "
                                "\"row,column\""),
             "FILE.npy");
  add_integer(command, "--layer", attend->layer, 0, kMaxInteger,
              "layer of a trained model, from 0 (default: the last)");
  command
      .add_option_function<std::string>(
          "--rows",
          [attend](const std::string& text) { attend->rows = parse_pair(text, "attend.rows", 0); },
          "for a language or image model: only queries BEGIN to END - 1, from 0; with --layer and "
          "--head "
          "maps of thousands of tokens have at most 2^25 weights")
      ->type_name("BEGIN,END");
  attend->splitting.add_to(command);
  add_fields(command, attend->options, "", kSentenceWords);
  add_integer(command, "--head", attend->head, 0, kMaxInteger, "only this head, 0 .. heads - 1");
  add_steps(command, *attend);
  command.add_flag("--overview", attend->overview,
                   "draw all heads of all layers of a trained model, sorted by the tokens they "
                   "attend to: the token "
                   "before, after or the same, the first or last token, a distance, or the words");
  command.add_flag("--lines", attend->lines,
                   "svg, png, pdf: lines between the words instead of maps");
  attend->output.add_to(
      command, kAttendFormats,
      "save as .svg .png .pdf .html (maps and lines) .json .csv or .npy, by the extension");
  attend->choice.add_to(command, "sinusoidal", nullptr, true);
  attend->call.add_to(command);
  command.footer(
      "Examples:\n"
      "  sextant attend \"the cat sat on the mat\" --causal\n"
      "  sextant attend \"the cat sat on the mat\" --scheme none -o order-is-invisible.svg\n"
      "  sextant attend \"the black cat\" --second \"die schwarze Katze\" --scheme rotary -o "
      "map.html\n"
      "  sextant attend \"the cat sat\" --scheme alibi --step from_positions\n"
      "  sextant attend \"the cat sat\" --scheme rotary --step rotated_q -o q.svg\n"
      "  sextant attend \"the king and the queen\" --vectors wiki.vec\n"
      "  sextant attend --model runs/dates \"the third of March 2021\" -o cross.svg\n"
      "  sextant attend --model gpt2 --file long.txt --layer 5 --head 1 --rows 900,1000 -o "
      "map.npy\n"
      "  sextant attend --model bert-base-uncased \"Who wrote it?\" \"Mary did.\" --head 3\n"
      "  sextant attend --model vit-base-patch16-224 --image image.npy --head 3 -o map.svg\n"
      "Without -o and --format: colour blocks in a terminal, numbers in a pipe.");
  command.callback([attend, model, &command, &job] {
    const bool is_trained = model->count() > 0;
    check(command, *attend, is_trained);
    job = [attend, is_trained] {
      if (attend->call.is_given() && (is_trained || !attend->vectors.empty())) {
        return attend->call.print(call_of(*attend, {}, {}));
      }
      if (!attend->vectors.empty()) return attend_with_vectors(*attend);
      if (!attend->image.empty()) return attend_image(*attend);
      is_trained ? attend_trained(*attend) : run(*attend);
    };
  });
}

}  // namespace sextant::app
