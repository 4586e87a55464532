// Refuses normalisation tables that lead outside themselves.
#include "text/charsmap.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "core/text/utf8.h"
#include "sextant/core/error.h"
#include "sextant/text/segment.h"
#include "text/charsmap_unit.h"

namespace sextant::text {
namespace {

constexpr int kMaxRules = 32;                  // as many as the library has room for
constexpr std::size_t kLongestRule = 1 << 12;  // bytes one rule may put in a character's place

// Units grouped by the base they hang on (their place ^ their label).
class Children {
 public:
  explicit Children(const std::vector<CharsmapUnit>& units)
      : begin_(units.size() + 1), places_(units.size()) {
    const auto base = [&](std::size_t place) { return place ^ units[place].label(); };
    for (std::size_t i = 0; i < units.size(); ++i) {
      if (!units[i].is_value() && base(i) < units.size()) ++begin_[base(i) + 1];
    }
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
    for (std::size_t i = 0; i < units.size(); ++i) {
      if (!units[i].is_value() && base(i) < units.size()) places_[next[base(i)]++] = i;
    }
  }
  std::size_t begin(std::size_t base) const { return begin_[base]; }
  std::size_t end(std::size_t base) const { return begin_[base + 1]; }
  std::size_t operator[](std::size_t i) const { return places_[i]; }

 private:
  std::vector<std::size_t> begin_;
  std::vector<std::size_t> places_;
};

// The most leaves on any way down from the root, found without recursion because a hostile trie is
// as deep as it likes; -1 for a trie that leads back into itself.
int most_leaves(const std::vector<CharsmapUnit>& units) {
  const Children children(units);
  const auto base_of = [&](std::size_t node) { return node ^ units[node].offset(); };
  constexpr int kUnseen = -1;
  constexpr int kOpen = -2;
  std::vector<int> leaves(units.size(), kUnseen);
  struct Step {
    std::size_t node;
    std::size_t next;  // child to look at
    int below;
  };
  std::vector<Step> way = {{0, children.begin(base_of(0)), 0}};
  leaves[0] = kOpen;
  while (true) {
    Step& step = way.back();
    if (step.next < children.end(base_of(step.node))) {
      const std::size_t child = children[step.next];
      if (leaves[child] == kOpen) return -1;
      if (leaves[child] == kUnseen) {
        leaves[child] = kOpen;
        way.push_back({child, children.begin(base_of(child)), 0});
      } else {
        step.below = std::max(step.below, leaves[child]);
        ++step.next;
      }
      continue;
    }
    leaves[step.node] = step.below + (units[step.node].has_leaf() ? 1 : 0);
    way.pop_back();
    if (way.empty()) return leaves[0];
  }
}

}  // namespace

void check_charsmap(std::string_view blob, std::string_view where) {
  const auto refuse = [&](const char* what) {
    throw Error(where, std::string("must have a valid normalisation table, got ") + what);
  };
  if (blob.size() < 4) refuse("one that is cut");
  const std::size_t trie_bytes = read_charsmap_unit(blob, 0);
  blob.remove_prefix(4);
  if (trie_bytes > blob.size() || trie_bytes % 4 != 0 || trie_bytes == 0) {
    refuse("a trie of a wrong size");
  }
  const std::string_view rules = blob.substr(trie_bytes);
  if (rules.empty() || rules.back() != '\0') refuse("rules without an end");
  check_utf8(rules, where);

  std::vector<CharsmapUnit> units(trie_bytes / 4);
  for (std::size_t i = 0; i < units.size(); ++i) units[i] = {read_charsmap_unit(blob, 4 * i)};
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (units[i].is_value()) continue;
    const std::size_t base = i ^ units[i].offset();
    if ((base | 0xFF) >= units.size()) refuse("a trie that leads outside itself");
    if (!units[i].has_leaf()) continue;
    const std::size_t value = units[base].value();
    if (value >= rules.size() || continues_character(rules[value])) {
      refuse("a trie that points outside its rules");
    }
    if (rules.substr(value, kLongestRule + 1).find('\0') == std::string_view::npos) {
      refuse("a rule longer than 4096 bytes");
    }
  }
  if (units[0].is_value()) refuse("a trie without a root");
  const int most = most_leaves(units);
  if (most < 0) refuse("a trie that leads back into itself");
  if (most > kMaxRules) refuse("more than 32 rules for one place");
}

}  // namespace sextant::text
