// `sextant attention` at work: read and check everything, compute everything, then write.
#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "attention/attention_operands.h"
#include "sextant/attention/backward.h"
#include "sextant/attention/plan.h"
#include "sextant/core/error.h"
#include "sextant/core/safetensors.h"

namespace sextant::app {
namespace {

// The results that are to be written.
template <Floating T>
struct AttentionResults {
  using Wide = typename AttentionOperands<T>::Wide;
  std::map<std::string, Tensor<T>> arrays;   // of the type of q
  std::map<std::string, Tensor<Wide>> sums;  // gradients of arrays that are not stored in that type
  Tensor<float> lse;
  SchemeWeights scheme;  // gradients

  template <class Look>
  void for_each(const Look& look) const {
    for (const auto& [name, values] : arrays) look(name, values);
    for (const auto& [name, values] : sums) look(name, values);
    if (lse.rank() == 3) look(std::string("log-sum-exp"), lse);
  }
};

template <Floating T>
void compute_gradients(const AttentionCommand& command, const AttentionOperands<T>& call,
                       const Tensor<T>& out, AttentionResults<T>& results) {
  AttentionGradients<T> wanted;
  const auto want = [&](auto& results_of, const char* name, const Shape& shape, auto& gradient) {
    if (!command.wants(name)) return;
    gradient = results_of.emplace(name, shape).first->second.view();
  };
  want(results.arrays, "dq", call.q.shape(), wanted.q);
  want(results.arrays, "dk", call.k.shape(), wanted.k);
  want(results.arrays, "dv", call.v.shape(), wanted.v);
  want(results.sums, "dbias", call.bias_shape(), wanted.bias.values);
  want(results.sums, "dmask", call.mask_shape(), wanted.mask);
  const Shape heads{call.q.size(1)};
  want(results.sums, "dslopes", heads, wanted.bias.slopes);
  want(results.sums, "dsinks", heads, wanted.sinks);
  if (command.wants("dscheme")) call.scheme()->want(wanted);
  attention_backward<T>(call.q, call.k, call.v, out, call.dout, wanted, call.options,
                        std::as_const(results.lse).view());
  if (command.wants("dscheme")) results.scheme = call.scheme()->gradients();
}

template <Floating T>
AttentionResults<T> compute(const AttentionCommand& command, const AttentionOperands<T>& call) {
  AttentionResults<T> results;
  const bool gradients = call.dout.rank() == 4;
  if (command.wants("output") || command.wants("log-sum-exp") || gradients) {
    Tensor<T> out(call.output_shape());
    results.lse = Tensor<float>(call.row_shape());
    attention<T>(call.q, call.k, call.v, out, call.options, results.lse);
    if (gradients) compute_gradients(command, call, out, results);
    if (command.wants("output")) results.arrays.emplace("output", std::move(out));
    if (!command.wants("log-sum-exp")) results.lse = Tensor<float>();
  }
  if (command.wants("weights")) {
    WeightsOptions chosen;
    chosen.stage = command.stage;
    results.arrays.emplace("weights", attention_weights<T>(call.q, call.k, call.options, chosen));
  }
  return results;
}

// The output last: when it is there, so is everything else.
template <Floating T>
void write(const AttentionCommand& command, const AttentionResults<T>& results) {
  if (command.wants("dscheme")) write_scheme<T>(command.outputs.at("dscheme"), results.scheme);
  for (const bool last : {false, true}) {
    results.for_each([&]<class E>(const std::string& name, const Tensor<E>& values) {
      if (last != (name == "output")) return;
      const std::string& path = command.outputs.at(name);
      if (path == "-") {
        print(format_npy<E>(values.view()));
      } else {
        save_npy<E>(path, values);
      }
    });
  }
}

template <Floating T>
void run_as(const AttentionCommand& command, const AttentionArrays& arrays) {
  const AttentionOperands<T> call(command, arrays);
  const AttentionPlan plan = attention_plan<T>(call.q, call.k, call.v, call.options);
  if (command.explain) print(plan.explain());
  const AttentionResults<T> results = compute(command, call);
  write(command, results);
  if (!command.json) return;
  Json written = Json::object();
  results.for_each([&]<class E>(const std::string& name, const Tensor<E>& values) {
    const auto& shape = values.shape();
    written[name] = {{"file", command.outputs.at(name)},
                     {"dtype", dtype_name(dtype_of<E>)},
                     {"shape", std::vector<std::int64_t>(shape.begin(), shape.end())}};
  });
  for (const auto& [name, values] : results.scheme) {
    Json& entry = written["dscheme"];
    entry["file"] = command.outputs.at("dscheme");
    entry["weights"][name] =
        std::vector<std::int64_t>(values.shape().begin(), values.shape().end());
  }
  print(to_text(summary_of(command, arrays, written)) + "\n");
}

}  // namespace

void run_attention(const AttentionCommand& command) {
  check_folders(command);
  const AttentionArrays arrays = load_arrays(command);
  try {
    const DType dtype = arrays.at("q").dtype;
    if (dtype == DType::float64) return run_as<double>(command, arrays);
    if (dtype == DType::float16) return run_as<float16>(command, arrays);
    if (dtype == DType::bfloat16) return run_as<bfloat16>(command, arrays);
    run_as<float>(command, arrays);
  } catch (const Error& error) {
    throw as_option(error, command.choice.is_given());
  }
}

}  // namespace sextant::app
