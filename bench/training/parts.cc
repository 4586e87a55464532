// Clocks around the operations of layers. The build reads the names below out of this file and asks
// the linker to send every call of `name` to `__wrap_name`, with the operation itself as
// `__real_name`. When an operation gets other arguments the program does not link any more: print
// the new name with nm.
#include "training/parts.h"

#include <chrono>

#include "layers/ops.h"
#include "sextant/attention/attention.h"
#include "sextant/attention/backward.h"

namespace sextant::bench {

std::array<double, kParts>& part_seconds() noexcept {
  static std::array<double, kParts> seconds{};
  return seconds;
}

namespace {

using Clock = std::chrono::steady_clock;

class Timer {
 public:
  explicit Timer(Part part) : part_(part) {}
  ~Timer() {
    const std::chrono::duration<double> spent = Clock::now() - start_;
    part_seconds()[static_cast<std::size_t>(part_)] += spent.count();
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  Part part_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

#define SEXTANT_TIMED(part, name, symbol, result, parameters, arguments) \
  result real_##name parameters asm("__real_" symbol);                   \
  result timed_##name parameters asm("__wrap_" symbol);                  \
  result timed_##name parameters {                                       \
    const Timer timer(Part::part);                                       \
    return real_##name arguments;                                        \
  }

using In = View<const float>;
using Out = View<float>;
using RowsIn = ops::Rows<const float>;
using RowsOut = ops::Rows<float>;
using Weights = WeightView<float>;

// clang-format off
SEXTANT_TIMED(products, linear,
  "_ZN7sextant3ops6linearIfEEvNS0_4RowsIKT_EERKNS_10WeightViewIS3_EEPS4_NS2_IS3_EEi",
  void, (RowsIn x, const Weights& w, const float* bias, RowsOut y, int threads), (x, w, bias, y, threads))
SEXTANT_TIMED(products, linear_relu,
  "_ZN7sextant3ops11linear_reluIfEEvNS_4ViewIKT_EERKNS_10WeightViewIS3_EEPS4_NS2_IS3_EEi",
  void, (In x, const Weights& w, const float* bias, Out y, int threads), (x, w, bias, y, threads))
SEXTANT_TIMED(products, relu_input_gradient,
  "_ZN7sextant3ops26relu_linear_input_gradientIfEEvNS_4ViewIKT_EES5_S5_NS2_IS3_EEi",
  void, (In dy, In w, In x, Out dx, int threads), (dy, w, x, dx, threads))
SEXTANT_TIMED(products, input_gradient,
  "_ZN7sextant3ops21linear_input_gradientIfEEvNS0_4RowsIKT_EES5_NS2_IS3_EEbi",
  void, (RowsIn dy, RowsIn w, RowsOut dx, bool add, int threads), (dy, w, dx, add, threads))
SEXTANT_TIMED(products, weight_gradient,
  "_ZN7sextant3ops22linear_weight_gradientIfEEvNS0_4RowsIKT_EES5_NS2_IS3_EEPS3_i",
  void, (RowsIn x, RowsIn dy, RowsOut dw, float* dbias, int threads), (x, dy, dw, dbias, threads))
SEXTANT_TIMED(attention, attention,
  "_ZN7sextant9attentionIfEEvNSt13type_identityINS_4ViewIKT_EEE4typeES7_S7_NS2_IS3_EERKNS_18AttentionOptionsOfINSt11conditionalIX7same_asINS1_IS3_E4typeEdEEdfE4typeEEENS2_IfEE",
  void, (In q, In k, In v, Out out, const AttentionOptions<float>& options, Out sums), (q, k, v, out, options, sums))
SEXTANT_TIMED(attention_backward, attention_backward,
  "_ZN7sextant18attention_backwardIfEEvNSt13type_identityINS_4ViewIKT_EEE4typeES7_S7_S7_S7_RKNS_18AttentionGradientsIS3_EERKNS_18AttentionOptionsOfINSt11conditionalIX7same_asINS1_IS3_E4typeEdEEdfE4typeEEENS2_IKfEE",
  void, (In q, In k, In v, In out, In dout, const AttentionGradients<float>& gradients, const AttentionOptions<float>& options, In sums),
  (q, k, v, out, dout, gradients, options, sums))
SEXTANT_TIMED(norms, norm,
  "_ZN7sextant3ops4normIfEEvNS_4ViewIKT_EEPS4_S6_dbNS2_IS3_EES7_i",
  void, (In x, const float* gain, const float* bias, double epsilon, bool rms, Out y, Out stats, int threads),
  (x, gain, bias, epsilon, rms, y, stats, threads))
SEXTANT_TIMED(norms, norm_gradient,
  "_ZN7sextant3ops13norm_gradientIfEEvNS_4ViewIKT_EES5_PS4_bS5_NS2_IS3_EEbPS3_S8_i",
  void, (In x, In stats, const float* gain, bool rms, In dy, Out dx, bool add, float* dgain, float* dbias, int threads),
  (x, stats, gain, rms, dy, dx, add, dgain, dbias, threads))
SEXTANT_TIMED(activations, activate,
  "_ZN7sextant3ops8activateIfEEvNS_10ActivationENS_4ViewIKT_EENS3_IS4_EEi",
  void, (Activation f, In x, Out y, int threads), (f, x, y, threads))
SEXTANT_TIMED(activations, activate_gradient,
  "_ZN7sextant3ops17activate_gradientIfEEvNS_10ActivationENS_4ViewIKT_EES6_NS3_IS4_EEi",
  void, (Activation f, In x, In dy, Out dx, int threads), (f, x, dy, dx, threads))
SEXTANT_TIMED(sums, dropout,
  "_ZN7sextant3ops7dropoutIfEEvPKT_S4_PS2_lldNS_9RandomKeyEi",
  void, (const float* residual, const float* x, float* y, std::int64_t rows, std::int64_t columns, double rate, RandomKey key, int threads),
  (residual, x, y, rows, columns, rate, key, threads))
SEXTANT_TIMED(sums, add,
  "_ZN7sextant3ops3addIfEEvPKT_PS2_li",
  void, (const float* x, float* y, std::int64_t count, int threads), (x, y, count, threads))
SEXTANT_TIMED(loss, cross_entropy,
  "_ZN7sextant3ops13cross_entropyIfEENS_7LossSumENS_4ViewIT_EEPKlddbi",
  LossSum, (Out logits, const std::int64_t* targets, double smoothing, double scale, bool want_gradient, int threads),
  (logits, targets, smoothing, scale, want_gradient, threads))
// clang-format on

}  // namespace sextant::bench
