// One dial per word and pair: how fast each pair's hand goes round.
#include "sextant/figures/clock_hands.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "pictures/matrices/words.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"

namespace sextant::figures {
namespace {

using pictures::number;

constexpr std::int64_t kMaxWords = 64;
constexpr double kDial = 44;  // from one dial to the next
constexpr double kRadius = 17;
constexpr double kBetweenRows = 14;  // of words

void check(const Sinusoidal& options, const std::vector<std::int64_t>& pairs,
           const std::vector<std::string>& words) {
  if (words.empty() || static_cast<std::int64_t>(words.size()) > kMaxWords) {
    throw Error("figure.words", "must be 1 .. " + std::to_string(kMaxWords) + ", got " +
                                    std::to_string(words.size()));
  }
  if (pairs.empty()) throw Error("figure.pairs", "must name at least one pair");
  for (const std::int64_t pair : pairs) {
    if (pair >= 0 && pair < options.width / 2) continue;
    throw Error("figure.pairs", "must be 0 .. " + std::to_string(options.width / 2 - 1) + ", got " +
                                    std::to_string(pair));
  }
}

// Words to go once round: "6.28 words".
std::string period_of(const Sinusoidal& options, std::int64_t pair) {
  Sinusoidal one = options;
  const std::int64_t step[] = {1};
  const Tensor<double> row = sinusoidal<double>(one, std::span(step));
  const double angle = std::atan2(row(0, 2 * pair), row(0, 2 * pair + 1));
  const double period = 2 * std::numbers::pi / std::abs(angle);
  return significant(period, 3) + " words";
}

// The dials of a row, of `count` words from `first` on, with the hand of one pair.
void draw_dials(pictures::Drawing& drawing, const Tensor<double>& table, std::size_t row,
                std::int64_t pair, std::size_t first, std::size_t count, double left, double y) {
  std::string circles, hands;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = left + (static_cast<double>(i) + 0.5) * kDial;
    const auto position = static_cast<std::int64_t>(first + i);
    const double sine = table(position, 2 * pair), cosine = table(position, 2 * pair + 1);
    circles += "M" + number(x - kRadius) + " " + number(y) + "a" + number(kRadius) + " " +
               number(kRadius) + " 0 1 0 " + number(2 * kRadius) + " 0a" + number(kRadius) + " " +
               number(kRadius) + " 0 1 0 " + number(-2 * kRadius) + " 0";
    hands += "M" + number(x) + " " + number(y) + "l" + number(kRadius * sine) + " " +
             number(-kRadius * cosine);
  }
  drawing.path(circles, pictures::kAxis, 1);
  drawing.path(hands, pictures::series_color(row), 2.5, "stroke-linecap=\"round\"");
}

}  // namespace

Picture plot_clock_hands(const Sinusoidal& given, const std::vector<std::int64_t>& pairs,
                         const std::vector<std::string>& words, double max_width) {
  check(given, pairs, words);
  pictures::check_max_width("figure", max_width);
  Sinusoidal options = given;
  options.layout = SinusoidalLayout::interleaved;
  options.length = static_cast<std::int64_t>(words.size());
  const Tensor<double> table = sinusoidal<double>(options);

  pictures::Drawing drawing;
  std::vector<std::string> names;
  for (const std::int64_t pair : pairs) names.push_back("once in " + period_of(options, pair));
  const double left = pictures::kMargin + pictures::widest(names, pictures::kTickSize) + 10;
  const std::string title = "Each pair of columns is a hand that turns at its own speed";
  const auto fit = static_cast<std::size_t>((max_width - left - pictures::kMargin) / kDial);
  const std::size_t across = std::clamp<std::size_t>(fit, 1, words.size());
  const double dials = static_cast<double>(across) * kDial;
  const double title_room =
      std::min(pictures::title_width(title), max_width - 2 * pictures::kMargin);
  const double right = std::max(left + dials, pictures::kMargin + title_room) + pictures::kMargin;
  double top = pictures::draw_title(drawing, title, pictures::kMargin, pictures::kMargin,
                                    right - 2 * pictures::kMargin);
  for (std::size_t first = 0; first < words.size(); first += across) {
    const std::size_t count = std::min(across, words.size() - first);
    for (std::size_t row = 0; row < pairs.size(); ++row) {
      const double y = top + (static_cast<double>(row) + 0.5) * kDial;
      drawing.text(left - 10, y, names[row], {.anchor = pictures::Anchor::end});
      draw_dials(drawing, table, row, pairs[row], first, count, left, y);
    }
    top += static_cast<double>(pairs.size()) * kDial + 6;
    const auto begin = words.begin() + static_cast<std::ptrdiff_t>(first);
    const std::vector<std::string> named(begin, begin + static_cast<std::ptrdiff_t>(count));
    const pictures::Words below = pictures::words_below(named, kDial);
    pictures::draw_words_below(drawing, below, left, top);
    top += below.room + (first + count < words.size() ? kBetweenRows : 0);
  }
  return drawing.finish(right, top + pictures::kMargin, title,
                        "Dials for " + std::to_string(words.size()) + " words in " +
                            std::to_string(pairs.size()) +
                            " rows, each hand at the angle of its pair at that position; the hands "
                            "of the first row go "
                            "round once in " +
                            period_of(options, pairs.front()) + ", those of the last once in " +
                            period_of(options, pairs.back()) + ".");
}

}  // namespace sextant::figures
