// Reads the texts of a run, in pieces: training data, then held-out data.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/training/tasks/training_plan.h"
#include "text/files/text_file.h"

namespace sextant {

class TextSource {
 public:
  // Reads all files once, and compares their checksums with those that `settings` has, or sets
  // them. `lines`: whether a tokenizer needs whole lines. Throws Error as TextFile, for a file that
  // has changed since the run began.
  TextSource(TrainingSettings& settings, text::LongLines lines);
  // Finds where the held-out part begins, for which documents are counted in another pass over the
  // files. Call it before the functions below.
  void divide();

  // Receives a part of the data, in order. Texts that are no documents have no end.
  struct Visitor {
    std::function<void(std::string_view)> text;  // pieces as TokenizerTrainer::add() wants them
    std::function<void()> end_document, end_text;
  };
  void visit_training(const Visitor& visitor) const { visit(true, visitor); }
  void visit_held_out(const Visitor& visitor) const { visit(false, visitor); }
  void visit_all(const Visitor& visitor) const;
  std::uint64_t documents() const noexcept { return documents_; }  // of both parts

 private:
  void visit(bool training, const Visitor& visitor) const;
  void visit_streams(bool training, const Visitor& visitor) const;
  void visit_documents(const Visitor& visitor) const;

  DocumentUnit unit_;
  double part_held_out_;
  text::LongLines lines_;
  std::vector<text::TextFile> files_;
  std::vector<std::uint64_t> splits_;           // of each file, where no documents are
  std::uint64_t documents_ = 0, held_out_ = 0;  // of which the last are held out
};

}  // namespace sextant
