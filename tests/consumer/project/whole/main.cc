// Uses one function of several components, as a user's program would.
#include <sextant/sextant.h>

#include <cmath>

int main() {
  const auto table = sextant::sinusoidal<double>({.length = 4, .width = 4, .base = 100});
  const auto chart = sextant::draw(sextant::HeatmapPanels{.values = table.view()});
  const bool right =
      std::abs(table(1, 0) - std::sin(1.0)) < 1e-15 && chart.svg.find("<svg") != std::string::npos;
  return right ? 0 : 1;
}
