// Regular expressions by the browser. It has no limit of steps: who waits too long ends the worker.
#include "text/pretrained/patterns/regex.h"

#include <emscripten.h>

#include <string>

#include "sextant/core/error.h"
#include "text/browser/javascript.h"
#include "text/pretrained/patterns/pattern_syntax.h"

// clang-format off
// Keeps the expression under the number returned, -1 for one that the browser does not know. Names
// of scripts, {Han}, are names of a property in JavaScript, {Script=Han}; {^L} is the opposite.
EM_JS(int, sextant_regex, (const char* pattern, int bytes), {
  if (!sextant_regex.all) sextant_regex.all = new Map();
  const slash = String.fromCharCode(92);
  const known = (name) => {
    try { return new RegExp(slash + "p{" + name + "}", "u") !== null; } catch (unknown) { return false; }
  };
  const escapes = new RegExp(slash + slash + "(?:([pP])" + slash + "{(" + slash + "^?)([^}]*)" + slash + "}|[^])", "gu");
  const source = sextant_text(pattern, bytes).replace(escapes, (whole, p, opposite, name) => {
    if (p === undefined) return whole;
    const found = [name, "Script=" + name].find(known);
    return slash + (opposite === "" ? p : p === "p" ? "P" : "p") + "{" + (found === undefined ? name : found) + "}";
  });
  try {
    const number = 1 + Math.max(-1, ...sextant_regex.all.keys());
    sextant_regex.all.set(number, new RegExp(source, "gu"));
    return number;
  } catch (unknown) {
    return -1;
  }
})
EM_JS(void, sextant_forget_regex, (int number), { sextant_regex.all.delete(number); })
// Begins and ends, in turns.
EM_JS(int32_t*, sextant_matches, (int number, const char* begin, int bytes), {
  const expression = sextant_regex.all.get(number), text = sextant_text(begin, bytes), places = [];
  expression.lastIndex = 0;
  for (let match; (match = expression.exec(text)) !== null;) {
    const end = match.index + match[0].length;
    places.push(match.index, end);
    if (match[0] === "") expression.lastIndex = end + (text.codePointAt(end) > 0xffff ? 2 : 1);
  }
  return sextant_list(places);
})
// clang-format on

namespace sextant::text {
namespace {

class BrowserRegex : public Regex {
 public:
  explicit BrowserRegex(int number) : number_(number) {}
  BrowserRegex(const BrowserRegex&) = delete;
  BrowserRegex& operator=(const BrowserRegex&) = delete;
  ~BrowserRegex() override { sextant_forget_regex(number_); }
  std::unique_ptr<Search> search() const override {
    return std::make_unique<BrowserSearch>(number_);
  }

 private:
  class BrowserSearch : public Search {
   public:
    explicit BrowserSearch(int number) : number_(number) {}
    std::vector<Match> matches(std::string_view text) override {
      const auto places =
          taken_list(sextant_matches(number_, text.data(), static_cast<int>(text.size())));
      std::vector<Match> all;
      for (std::size_t i = 0; i < places.size(); i += 2) {
        all.push_back({places[i], places[i + 1]});
      }
      return all;
    }

   private:
    int number_;
  };

  int number_;
};

}  // namespace

std::unique_ptr<const Regex> Regex::compile(std::string_view pattern, const Field& field) {
  const std::string translated = javascript_pattern(pattern, field);
  const int number = sextant_regex(translated.data(), static_cast<int>(translated.size()));
  if (number < 0) {
    throw Error(field.file(),
                "must have a regular expression that this browser knows as " + field.place());
  }
  return std::make_unique<BrowserRegex>(number);
}

}  // namespace sextant::text
