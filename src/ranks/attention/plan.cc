// The algorithm of a call: which ones can take it, and which of these is expected to be fastest.
#include <algorithm>
#include <string>

#include "core/arrays/each_dtype.h"
#include "ranks/attention/algorithms/algorithms.h"
#include "ranks/attention/cost_model.h"
#include "sextant/core/numbers.h"
#include "sextant/ranks/agreement.h"

namespace sextant::ranks {
namespace {

// Why an algorithm cannot take a call; empty: it can.
template <class T>
std::string why_not(const CallShape<T>& call, Algorithm algorithm) {
  if (call.ranks.sharding == Sharding::striped && algorithm != Algorithm::ulysses) {
    return "must be ulysses for striped parts, or redistribute() makes them zigzag";
  }
  const bool rounds = call.ranks.wire_type != WireType::unchanged;
  if (algorithm == Algorithm::ring) {
    if (call.ranks.reproducible) return "must be gather or ulysses with reproducible";
    if (std::is_same_v<T, double>) return "must be gather or ulysses for float64";
    if (call.all.logit_term.term != nullptr) {
      return "must be gather or ulysses with a term before the softcap";
    }
  }
  if (algorithm == Algorithm::ulysses && rounds)
    return "must be ring or gather with a wire type of 16 bits";
  if (call.ranks.reproducible && rounds)
    return "must have the wire type unchanged with reproducible";
  return "";
}

// The first algorithm that can take the call, of the one asked for or of all. Throws SharedError
// where there is none.
template <class T>
Algorithm first_possible(const char* function, const CallShape<T>& call) {
  const bool any = call.ranks.algorithm == Algorithm::automatic;
  std::string reason;
  for (const Algorithm algorithm : {Algorithm::ring, Algorithm::gather, Algorithm::ulysses}) {
    if (!any && algorithm != call.ranks.algorithm) continue;
    reason = why_not(call, algorithm);
    if (reason.empty()) return algorithm;
  }
  throw SharedError(std::string(function) + (any ? ".wire_type" : ".algorithm"), reason);
}

// Striped shardings are counted as zigzag, which balances the work as well.
template <class T>
AttentionPlan plan_of(const char* function, CallShape<T> call) {
  AttentionPlan plan{.algorithm = first_possible(function, call),
                     .sharding = call.ranks.sharding,
                     .ranks = call.size()};
  if (plan.sharding == Sharding::striped) {
    call.q_layout = ShardLayout(Sharding::zigzag, call.q_layout.length(), plan.ranks);
    call.k_layout = ShardLayout(Sharding::zigzag, call.k_layout.length(), plan.ranks);
  }
  const CostModel<T> model(call);
  for (const double pairs : model.shares) plan.share.push_back(static_cast<std::int64_t>(pairs));
  plan.pairs = static_cast<std::int64_t>(model.pairs);
  plan.costs = {model.ring(), model.gather(), model.ulysses()};
  const AttentionPlan::Cost* best = nullptr;
  for (AttentionPlan::Cost& cost : plan.costs) {
    cost.why_not = why_not(call, cost.algorithm);
    const bool possible = cost.why_not.empty();
    const bool asked =
        call.ranks.algorithm == Algorithm::automatic ? possible : cost.algorithm == plan.algorithm;
    if (asked && (best == nullptr || cost.seconds < best->seconds)) best = &cost;
  }
  plan.algorithm = best->algorithm;
  plan.balance = best->balance;
  if (plan.balance < 0.9 && plan.sharding == Sharding::contiguous && call.all.causal) {
    plan.notes.push_back("ranks with early positions idle: divide as zigzag");
  }
  if (plan.algorithm == Algorithm::ulysses && call.all.kv_heads % plan.ranks != 0) {
    plan.notes.push_back(std::to_string(call.all.kv_heads) + " key heads on " +
                         std::to_string(plan.ranks) + " ranks: their work differs");
  }
  return plan;
}

std::string bytes_text(std::int64_t bytes) {
  if (bytes < 10240) return std::to_string(bytes) + " bytes";
  const double kib = static_cast<double>(bytes) / 1024;
  return kib < 10240 ? fixed(kib, 0) + " KiB" : fixed(kib / 1024, 1) + " MiB";
}

}  // namespace

template <class T>
Algorithm algorithm_of(const char* function, const CallShape<T>& call) {
  const Algorithm first = first_possible(function, call);
  return call.ranks.algorithm == Algorithm::automatic ? plan_of(function, call).algorithm : first;
}

template <AttentionElement T>
AttentionPlan plan(const Communicator& comm, View<const T> q, std::type_identity_t<View<const T>> k,
                   std::type_identity_t<View<const T>> v,
                   const AttentionOptions<std::type_identity_t<T>>& options, const Options& ranks) {
  constexpr const char* kFunction = "ranks.plan";
  return plan_of(kFunction, check_call<T>(kFunction, comm, q, k, v, options, ranks));
}

template <AttentionElement T>
AttentionPlan plan_for(int count, const CallSizes& sizes,
                       const AttentionOptions<std::type_identity_t<T>>& options,
                       const Options& ranks) {
  constexpr const char* kFunction = "ranks.plan_for";
  check_options(kFunction, ranks);
  if (count < 1) {
    throw Error("ranks.plan_for.count", "must be 1 or more, got " + std::to_string(count));
  }
  const auto shape = [&](std::int64_t heads, std::int64_t length, std::int64_t width) {
    return shape_only<T>(Shape{sizes.batch, heads, length, width});
  };
  CallShape<T> call{.ranks = ranks,
                    .all = {},
                    .v_dim = sizes.v_dim,
                    .q_layout = ShardLayout(ranks.sharding, sizes.q_len, count),
                    .k_layout = ShardLayout(ranks.sharding, sizes.k_len, count)};
  call.all =
      attention_detail::check_scores(kFunction, shape(sizes.heads_q, sizes.q_len, sizes.head_dim),
                                     shape(sizes.kv_heads, sizes.k_len, sizes.head_dim), options);
  attention_detail::check_v(kFunction, call.all, shape(sizes.kv_heads, sizes.k_len, sizes.v_dim));
  attention_detail::check_no_dropout(kFunction, call.all, "ranks drop no weights");
  return plan_of(kFunction, call);
}

std::string AttentionPlan::explain() const {
  std::string text = "ranks: " + std::to_string(ranks) + ", algorithm " +
                     std::string(name_of(algorithm)) + ", sharding " +
                     std::string(name_of(sharding)) + "\n";
  text += "work: " + std::to_string(pairs) + " pairs of a query and a key; balance " +
          fixed(balance, 3) + " (1: no rank idles); shares";
  for (std::size_t r = 0; r < share.size() && r < 8; ++r) text += " " + std::to_string(share[r]);
  if (share.size() > 8) {
    const auto [least, most] = std::minmax_element(share.begin(), share.end());
    text += " ..., from " + std::to_string(*least) + " to " + std::to_string(*most);
  }
  text += "\n";
  for (const Cost& cost : costs) {
    text += std::string(cost.algorithm == algorithm ? "* " : "  ") +
            std::string(name_of(cost.algorithm)) + ": ";
    if (!cost.why_not.empty()) {
      text += "not here, " + cost.why_not + "\n";
      continue;
    }
    text += "receives " + bytes_text(cost.bytes) + " in " + std::to_string(cost.messages) +
            " messages, keeps " + bytes_text(cost.memory) + " besides; about " +
            significant(cost.seconds, 3) + " s, of which " + significant(cost.seconds_exposed, 3) +
            " s wait for messages\n";
  }
  for (const std::string& note : notes) text += "note: " + note + "\n";
  return text;
}

#define SEXTANT_INSTANTIATE(T)                                                                     \
  template Algorithm algorithm_of(const char*, const CallShape<T>&);                               \
  template AttentionPlan plan<T>(const Communicator&, View<const T>, View<const T>, View<const T>, \
                                 const AttentionOptions<T>&, const Options&);                      \
  template AttentionPlan plan_for<T>(int, const CallSizes&, const AttentionOptions<T>&,            \
                                     const Options&);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::ranks
