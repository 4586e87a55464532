// `sextant vocabulary`: the words of a text and their numbers.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "options/file_arguments.h"
#include "options/options.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/text/vocabulary.h"
#include "streams/console.h"
#include "streams/table_output.h"

namespace sextant::app {
namespace {

struct WordList {
  std::vector<std::string> files;
  std::string oov = "OOV";
  Output output;
};

void run(const WordList& words) {
  std::vector<std::string> texts;
  for (const std::string& file : words.files) {
    texts.push_back(file == "-" ? read_stdin(kLongestText) : read_file(file, kLongestText));
  }
  const Vocabulary vocabulary = Vocabulary::from_sentences(texts, words.oov);
  if (words.output.format(kTextOrJson, "vocabulary").value_or(Format::text) == Format::json) {
    return write_result(words.output, Format::json, vocabulary.json());
  }
  std::vector<std::vector<std::string>> rows;
  for (std::int64_t i = 0; i < vocabulary.size(); ++i) {
    rows.push_back({std::to_string(i), vocabulary.token(i)});
  }
  write_result(words.output, Format::text, aligned(rows, false));
}

}  // namespace

void add_vocabulary(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand(
      "vocabulary",
      "the words of a text and their numbers\n"
      "Lower-cases the text, splits it at white space, sorts the words by code point and numbers "
      "them, with a token for unknown words. `sextant tokenize --vocabulary` "
      "reads the saved .json.");
  auto words = std::make_shared<WordList>();
  input_file(command.add_option("--file", words->files, "one or more files of text; - reads stdin"),
             "FILE ...")
      ->required();
  command.add_option("--oov", words->oov, "the token for unknown words (default OOV)")
      ->type_name("WORD");
  words->output.add_to(command, kTextOrJson, "save as .json");
  command.footer(
      "Examples:\n"
      "  sextant vocabulary --file sentences.txt\n"
      "  sextant vocabulary --file sentences.txt -o words.json");
  command.callback([words, &job] {
    words->output.format(kTextOrJson, "vocabulary");
    job = [words] { run(*words); };
  });
}

}  // namespace sextant::app
