// Holds a command's changes to a list of fields, for the command line and for Python, which have
// the same options.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/options/fields.h"

namespace sextant {

struct Wording {
  std::string_view field;
  std::string option = {};        // "--rate" of "peak"
  bool hidden = false;            // no option of the command
  std::string default_text = {};  // of a default that follows from other options
  std::string meaning = {};       // of a flag that means no
  std::string group = {};
  std::string type = {};   // of what help calls neither a number nor a text: "L,R"
  std::string tasks = {};  // "translate dates": those that have it; empty: all
};

// The words of a command that has these options of a list and no others.
template <class Options>
std::vector<Wording> only(std::vector<Wording> words) {
  each_field<Options>([&words](const auto& field) {
    if (std::ranges::find(words, field.name, &Wording::field) != words.end()) return;
    words.push_back({.field = field.name, .hidden = true});
  });
  return words;
}

}  // namespace sextant
