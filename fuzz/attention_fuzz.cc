// Any bytes as a call of the attention operator: results within the error bounds of its arithmetic
// around the float64 oracle, the same for any number of threads; mistakes are refused and leave the
// output alone. Gradients likewise.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "attention/call.h"
#include "attention/check.h"
#include "attention/expected.h"
#include "attention/gradients.h"
#include "attention/spoil.h"
#include "sextant/core/error.h"

namespace sextant::fuzz {
namespace {

template <class T>
std::vector<T> bits_of(const Strided<T>& array) {
  const auto elements = array.buffer.span();
  return {elements.begin(), elements.end()};
}

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <class Visit, class T>
void each_row(const Call<T>& call, Visit&& visit) {
  for (std::int64_t b = 0; b < call.batch; ++b)
    for (std::int64_t h = 0; h < call.heads_q; ++h)
      for (std::int64_t i = 0; i < call.q_len; ++i) visit(b, h, i);
}

template <class T>
void check_output(const Call<T>& call, const Expected& expected) {
  each_row(call, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
    const Expected::Row row = expected.row(call, b, h, i);
    for (std::int64_t c = 0; c < call.v_dim; ++c) {
      const T got = call.out.view(b, h, i, c);
      const auto x = static_cast<double>(got);
      if (row.kind == Expected::Row::Kind::zeros) {
        check(x == 0, "not zero where nothing is seen", x, b, h, i, c);
      } else if (row.kind == Expected::Row::Kind::nan) {
        check(std::isnan(x), "no NaN where one is seen", x, b, h, i, c);
      } else if (row.kind == Expected::Row::Kind::numbers) {
        const Interval want = expected.output(call, row, b, h, i, c);
        check(in(got, want), "output", x, want.least, want.most, b, h, i, c);
      }
    }
    const bool numbers = row.kind == Expected::Row::Kind::numbers;
    if (call.log_sum_exp.view.rank() == 3 && (numbers || row.kind == Expected::Row::Kind::zeros)) {
      const float got = call.log_sum_exp.view(b, h, i);
      check(in(got, row.log_sum_exp), "log_sum_exp", got, row.log_sum_exp.least,
            row.log_sum_exp.most, b, h, i);
    }
  });
}

// One stage of the weights of a row and a head or of all.
template <class T>
void check_weights(const Call<T>& call, const Expected& expected, Choices& choices) {
  WeightsOptions chosen;
  chosen.stage = static_cast<Stage>(choices.integer(0, 3));
  if (call.q_len > 0) chosen.rows = {choices.integer(0, call.q_len - 1)};
  chosen.heads = {choices.integer(0, call.heads_q - 1)};
  const bool all = chosen.stage == Stage::scores || chosen.stage == Stage::capped;
  if (call.q_len == 0) return;
  Tensor<T> got;
  try {
    got = attention_weights<T>(call.q.view, call.k.view, call.options, chosen);
  } catch (const Error&) {
    // Scores of padding are asked for, which has no rows to be turned by.
    check(all && call.options.rotation != nullptr && !call.key_lengths.empty() &&
              call.rotation.cos.size(0) < call.k_len,
          "weights were refused");
    return;
  }
  const std::int64_t h = chosen.heads[0], i = chosen.rows[0];
  for (std::int64_t b = 0; b < call.batch; ++b) {
    const Expected::Row row = expected.row(call, b, h, i);
    if (!all && row.kind != Expected::Row::Kind::numbers) continue;
    for (std::int64_t j = 0; j < call.k_len; ++j) {
      const bool number =
          call.bad_q(b, h, i) == Poison::none && call.bad_k(b, h / call.group(), j) == Poison::none;
      const bool apart = call.are_apart(i, j);  // has no score
      if ((all && apart) || (chosen.stage != Stage::probabilities && !number)) continue;
      Interval want{};
      switch (chosen.stage) {
        case Stage::scores:
          want = expected.score(b, h, i, j);
          break;
        case Stage::capped:
          want = expected.capped(b, h, i, j);
          break;
        case Stage::biased:
          want = expected.biased(b, h, i, j);
          break;
        case Stage::probabilities:
          want = row.weights[static_cast<std::size_t>(j)];
          // The sum is a chain; numbers below 2^-126 may be taken as 0.
          const double chain = 0x1p-24 * static_cast<double>(call.k_len + 64) * want.most;
          want = {want.least - chain - 0x1p-126, want.most + chain + 0x1p-126};
          break;
      }
      check(in(got(b, 0, 0, j), want), "weight", static_cast<double>(got(b, 0, 0, j)), want.least,
            want.most, b, h, i, j, static_cast<int>(chosen.stage));
    }
  }
}

template <class T>
void check_refusal(const Call<T>& call, Choices& choices) {
  Handed<T> wrong = handed(call);
  if (!spoil(wrong, call, choices)) return;
  const auto before = bits_of(call.out), v_before = bits_of(call.v);
  bool refused = false;
  try {
    attention<T>(wrong.q, wrong.k, wrong.v, wrong.out, wrong.options, wrong.log_sum_exp);
  } catch (const Error&) {
    refused = true;
  }
  check(refused, "a mistake was not refused");
  check(same(before, bits_of(call.out)) && same(v_before, bits_of(call.v)),
        "a refused call wrote something");
}

template <class T>
void run(Choices& choices) {
  const Call<T> call(choices);
  if (choices.one_in(4)) return check_refusal(call, choices);
  auto options = call.options;
  options.threads = 1;
  attention<T>(call.q.view, call.k.view, call.v.view, call.out.view, options,
               call.log_sum_exp.view);
  const Expected expected(call);
  check_output(call, expected);
  const auto first = bits_of(call.out);
  options.threads = 3;
  attention<T>(call.q.view, call.k.view, call.v.view, call.out.view, options,
               call.log_sum_exp.view);
  check(same(first, bits_of(call.out)), "three threads give other bits than one");
  check_weights(call, expected, choices);
  if (options.matmul_precision == MatmulPrecision::float32)
    check_gradients(call, expected, choices);
}

}  // namespace
}  // namespace sextant::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sextant::fuzz::Choices choices({data, size});
  switch (choices.integer(0, 7)) {
    case 0:
      sextant::fuzz::run<double>(choices);
      break;
    case 1:
    case 2:
      sextant::fuzz::run<sextant::float16>(choices);
      break;
    case 3:
    case 4:
      sextant::fuzz::run<sextant::bfloat16>(choices);
      break;
    default:
      sextant::fuzz::run<float>(choices);
  }
  return 0;
}
