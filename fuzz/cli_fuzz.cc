// Any text as an argument of the command line: what it means, or an Error; never a crash.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/options/nearest.h"
#include "options/arguments.cc"  // compiled in: the command line is no library
#include "sextant/interop/stored_table.h"

namespace {

namespace app = sextant::app;

template <class Try>
void try_to(Try body) {
  try {
    body();
  } catch (const sextant::Error&) {
  }
}

std::string without_space(std::string_view text) {
  std::string kept;
  std::copy_if(text.begin(), text.end(), std::back_inserter(kept),
               [](char c) { return c != ' ' && c != '\n'; });
  return kept;
}

// Wrapping moves spaces and line breaks only, and a line is too long only when it is one word.
void check_wrap(std::string_view text, std::size_t columns) {
  const std::string wrapped = app::wrap(text, columns);
  if (without_space(wrapped) != without_space(text)) std::abort();
}

void check_table(std::string_view text) {
  const sextant::StoredTable table = sextant::parse_number_table(text, "table");
  if (table.values.rank() != 2 || table.values.count() < 1) std::abort();
  if (table.values.count() > static_cast<std::int64_t>(text.size())) std::abort();
  if (!(table.unit_roundoff > 0 && table.unit_roundoff <= 0x1p-8)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Ranges may ask for 2^24 positions: legal, and too slow to do for every input.
  const bool has_range = text.find("..") != std::string_view::npos;
  try_to([&] {
    if (has_range && size > 8) return;
    const app::Positions positions = app::parse_positions(text, "positions");
    if (std::visit([](const auto& list) { return list.empty(); }, positions)) std::abort();
  });
  try_to([&] { app::parse_pair(text, "pair"); });
  try_to([&] {
    const auto [left, right] = app::parse_pair(text, "window", -1);
    if (left < -1 || right < -1) std::abort();
  });
  try_to([&] {
    const double value = app::parse_finite(text, "base", 0, true);
    if (!(value > 0) || std::isinf(value)) std::abort();
  });
  try_to([&] { app::parse_words(text, "words"); });
  try_to([&] {
    const std::int64_t value = app::parse_integer(text, "integer", -1000, 1000);
    if (value < -1000 || value > 1000) std::abort();
  });
  constexpr app::Format kAllowed[] = {app::Format::text, app::Format::csv, app::Format::svg};
  try_to([&] {
    if (app::parse_format(text, kAllowed, "format") == app::Format::png) std::abort();
  });
  try_to([&] {
    if (app::format_of_path(text, kAllowed, "path") == app::Format::text) std::abort();
  });
  try_to([&] { check_table(text); });
  check_wrap(text, size % 50);
  const std::string_view words[] = {"encode", "plot", "attend", text};
  if (size <= 64 && sextant::nearest(text, words) != text) std::abort();  // it is one of them
  return 0;
}
