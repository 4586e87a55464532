// Shows that attention without positions cannot tell who chased whom, as in a lab on positions.
#include <cmath>
#include <iostream>
#include <string>

#include "print.h"
#include "sextant/sextant.h"

namespace {

using sextant::OrderLab;

// Returns the last token's row of a table.
sextant::View<const double> last(const sextant::Tensor<double>& rows) {
  return rows.view().narrow(0, rows.size(0) - 1, 1);
}

// The laboratory printed up to 17 digits; the last two depend on the order of its sums.
bool agrees(sextant::View<const double> row, const std::vector<double>& printed) {
  bool all = row.size(1) == static_cast<std::int64_t>(printed.size());
  for (std::size_t i = 0; all && i < printed.size(); ++i) {
    all = std::abs(row(0, static_cast<std::int64_t>(i)) - printed[i]) < 2e-15;
  }
  return all;
}

void show(const OrderLab& lab, const std::string& a, const std::string& b,
          const std::string& scheme) {
  const OrderLab::Verdict verdict = lab.compare(a, b, {scheme});
  std::cout << "\nscheme " << scheme << "\n  \"" << a << "\"\n  \"" << b
            << "\"\n  outputs of the last token:\n";
  print_rows(last(verdict.first.output), 13);
  print_rows(last(verdict.second.output), 13);
  std::cout << "  the same: " << yes_no(verdict.same) << '\n';
}

}  // namespace

int main() {
  const OrderLab lab;
  const std::string zebra = "the zebra chased the lion .", lion = "the lion chased the zebra .";

  std::cout << "first embedding (" << lab.vocabulary().token(0) << "):";
  for (int i = 0; i < 3; ++i) std::cout << ' ' << sextant::shortest(lab.embeddings()(0, i));

  const OrderLab::Result result = lab.run(zebra);
  std::cout << "\n\n\"" << zebra << "\"\nscores:\n";
  for (std::int64_t query = 0; query < 6; ++query) {
    for (std::int64_t key = 0; key < 6; ++key) {
      const double score = result.scores(query, key);
      std::cout << "  " << (key > query ? sextant::shortest(score) : sextant::fixed(score, 10));
    }
    std::cout << '\n';
  }
  std::cout << "weights:\n";
  print_rows(result.weights, 14, result.tokens);
  std::cout << "values:\n";
  print_rows(result.values, 13, result.tokens);
  std::cout << "output of the last token:\n";
  print_rows(last(result.output), 13);
  std::cout << "every digit that the laboratory printed: "
            << yes_no(agrees(last(result.weights),
                             {0.13882247893778413, 0.14117544495019235, 0.10582113241981449,
                              0.13882247893778413, 0.3019840725301271, 0.17337439222429785}) &&
                      agrees(last(result.output),
                             {1.1481937039255188, 1.2013677359003219, 1.0221718176342622}))
            << '\n';

  show(lab, zebra, lion, "none");
  show(lab, "lion the chased .", "chased the . lion", "none");
  show(lab, zebra, lion, "sinusoidal");
  show(lab, zebra, lion, "rotary");

  try {
    lab.run("the tiger chased the lion .");
  } catch (const sextant::Error& error) {
    std::cout << "\na word from outside: " << error.what() << '\n';
  }
}
