// The cost of each form by counting: visible pairs, bytes, messages.
#include <algorithm>
#include <cmath>
#include <string>

#include "ranks/attention/choice.h"
#include "ranks/attention/heads.h"
#include "ranks/attention/travel.h"
#include "sextant/core/numbers.h"
#include "sextant/ranks/agreement.h"

namespace sextant::ranks {
namespace {

// Division of the forms that work on blocks of neighbours.
template <class T>
Call<T> in_blocks(const Call<T>& call) {
  const bool striped = call.ranks.division == Division::striped;
  const Division division = striped ? Division::zigzag : call.ranks.division;
  return {.comm = call.comm,
          .ranks = call.ranks,
          .options = {},
          .all = call.all,
          .q = {},
          .k = {},
          .v = {},
          .v_dim = call.v_dim,
          .q_layout = {division, call.q_layout.length(), call.size()},
          .k_layout = {division, call.k_layout.length(), call.size()},
          .query_ids = {},
          .key_ids = {}};
}

// Why a form cannot take a call; empty: it can.
template <class T>
std::string why_not(const Call<T>& call, Form form) {
  const bool rounds = call.ranks.transport != Transport::unchanged;
  if (form == Form::ring) {
    if (call.ranks.reproducible) return "must be gather or ulysses with reproducible";
    if (std::is_same_v<T, double>) return "must be gather or ulysses for float64";
    if (call.all.content != nullptr) return "must be gather or ulysses with a content term";
  }
  if (form == Form::ulysses && rounds) return "must be ring or gather with a transport of 16 bits";
  if (call.ranks.reproducible && rounds) return "must have transport unchanged with reproducible";
  return "";
}

// Pairs of the queries of a rank with the keys of another, in all heads.
template <class T>
double pairs_between(const Call<T>& call, int reader, int owner) {
  double sum = 0;
  const std::vector<Piece> keys = call.key_pieces(owner);
  const auto before = [](const Piece& a, const Piece& b) { return a.segment < b.segment; };
  const bool sorted = std::is_sorted(keys.begin(), keys.end(), before);
  for (const Piece& queries : call.query_pieces(reader)) {
    auto at = sorted ? std::lower_bound(keys.begin(), keys.end(), queries, before) : keys.begin();
    for (; at != keys.end(); ++at) {
      if (at->segment == queries.segment) {
        sum += call.pairs(queries, *at);
      } else if (sorted) {
        break;
      }
    }
  }
  return sum * static_cast<double>(call.all.heads_q);
}

template <class T>
class Counting {
 public:
  explicit Counting(const Call<T>& call)
      : call_(in_blocks(call)), size_(call.size()), machine_(call.ranks.machine) {
    const auto n = static_cast<std::size_t>(size_);
    pairs_.assign(n, std::vector<double>(n));
    keys_.assign(n, std::vector<std::int64_t>(n));
    for (int reader = 0; reader < size_; ++reader) {
      for (int owner = 0; owner < size_; ++owner) {
        at(pairs_, reader, owner) = pairs_between(call_, reader, owner);
        for (const Piece& piece : needed(call_, reader, owner)) {
          at(keys_, reader, owner) += piece.size();
        }
      }
    }
  }

  AttentionPlan plan(const Call<T>& call) const {
    AttentionPlan plan;
    plan.division = call.ranks.division;
    plan.ranks = size_;
    double total = 0;
    for (const auto& row : pairs_) {
      double share = 0;
      for (const double pairs : row) share += pairs;
      plan.share.push_back(static_cast<std::int64_t>(share));
      total += share;
    }
    plan.pairs = static_cast<std::int64_t>(total);
    plan.costs = {ring(), gather(), ulysses(total)};
    for (AttentionPlan::Cost& cost : plan.costs) {
      cost.why_not = why_not(call, cost.form);
      cost.possible = cost.why_not.empty();
    }
    plan.form = call.ranks.form;
    if (plan.form == Form::automatic) {
      const AttentionPlan::Cost* best = nullptr;
      for (const AttentionPlan::Cost& cost : plan.costs) {
        if (cost.possible && (best == nullptr || cost.seconds < best->seconds)) best = &cost;
      }
      plan.form = best == nullptr ? Form::gather : best->form;
    }
    plan.balance = balance(plan, total);
    if (call.ranks.division == Division::striped && plan.form != Form::ulysses) {
      plan.notes.push_back(
          "striped parts are moved to a zigzag division and back: q, k, v and out");
    }
    if (plan.balance < 0.9 && call.ranks.division == Division::contiguous && call.all.causal) {
      plan.notes.push_back("ranks with early positions idle: divide as zigzag");
    }
    if (plan.form == Form::ulysses && call.all.kv_heads % size_ != 0) {
      plan.notes.push_back(std::to_string(call.all.kv_heads) + " key heads on " +
                           std::to_string(size_) + " ranks: not all have alike");
    }
    return plan;
  }

 private:
  template <class Table>
  static auto& at(Table& table, int reader, int owner) {
    return table[static_cast<std::size_t>(reader)][static_cast<std::size_t>(owner)];
  }
  double seconds_of(double pairs) const {
    return pairs * static_cast<double>(call_.all.head_dim + call_.v_dim) / machine_.multiply_adds;
  }
  std::int64_t messages_of(std::int64_t keys) const {
    const std::int64_t most = slice_keys(call_);
    return (keys + most - 1) / most;
  }
  double travel(std::int64_t keys) const {
    return static_cast<double>(slice_bytes(call_, keys)) / machine_.bytes +
           static_cast<double>(messages_of(keys)) * machine_.latency;
  }

  // A rank computes with what it has while the next part comes.
  AttentionPlan::Cost ring() const {
    AttentionPlan::Cost cost{.form = Form::ring, .why_not = {}};
    for (int t = 0; t < size_; ++t) {
      double compute = 0, next = 0;
      for (int r = 0; r < size_; ++r) {
        const int from = (r + size_ - t) % size_, then = (r + 2 * size_ - t - 1) % size_;
        compute = std::max(compute, seconds_of(at(pairs_, r, from)));
        if (t + 1 < size_) next = std::max(next, travel(at(keys_, r, then)));
      }
      cost.seconds += std::max(compute, next);
      cost.seconds_exposed += std::max(0.0, next - compute);
    }
    receive(cost);
    std::int64_t slice = 0;
    for (const auto& row : keys_) {
      for (const std::int64_t keys : row)
        slice = std::max(slice, std::min(keys, slice_keys(call_)));
    }
    cost.memory =
        4 * slice_bytes(call_, slice) + call_.all.batch * call_.all.heads_q * most_queries() * 8;
    return cost;
  }

  AttentionPlan::Cost gather() const {
    AttentionPlan::Cost cost{.form = Form::gather, .why_not = {}};
    double compute = 0;
    for (int r = 0; r < size_; ++r) {
      double pairs = 0, wait = 0;
      for (int owner = 0; owner < size_; ++owner) {
        pairs += at(pairs_, r, owner);
        if (owner != r) wait += travel(at(keys_, r, owner));
      }
      compute = std::max(compute, seconds_of(pairs));
      cost.seconds_exposed = std::max(cost.seconds_exposed, wait);
    }
    cost.seconds = compute + cost.seconds_exposed;
    receive(cost);
    cost.memory = call_.all.batch * call_.all.kv_heads * call_.k_layout.length() *
                  (call_.all.head_dim + call_.v_dim) * std::int64_t{sizeof(T)};
    return cost;
  }

  AttentionPlan::Cost ulysses(double pairs) const {
    AttentionPlan::Cost cost{.form = Form::ulysses, .why_not = {}};
    std::int64_t most = 0;
    const HeadShare share(call_.all.kv_heads, size_, false);
    for (int r = 0; r < size_; ++r) most = std::max(most, share.of(r).size());
    const std::int64_t numbers =
        call_.all.batch * most * (call_.all.head_dim + call_.v_dim) *
        (call_.q_layout.length() * call_.group() + call_.k_layout.length());
    cost.memory = 2 * numbers * std::int64_t{sizeof(T)};
    cost.bytes = cost.memory / 2 / size_ * (size_ - 1);
    cost.messages = 4 * (size_ - 1);
    cost.seconds_exposed = static_cast<double>(cost.bytes) / machine_.bytes +
                           static_cast<double>(cost.messages) * machine_.latency;
    cost.seconds = cost.seconds_exposed + seconds_of(pairs * static_cast<double>(most) /
                                                     static_cast<double>(call_.all.kv_heads));
    return cost;
  }

  void receive(AttentionPlan::Cost& cost) const {
    for (int r = 0; r < size_; ++r) {
      std::int64_t bytes = 0, messages = 0;
      for (int owner = 0; owner < size_; ++owner) {
        if (owner == r) continue;
        bytes += slice_bytes(call_, at(keys_, r, owner));
        messages += messages_of(at(keys_, r, owner));
      }
      cost.bytes = std::max(cost.bytes, bytes);
      cost.messages = std::max(cost.messages, messages);
    }
  }

  std::int64_t most_queries() const {
    std::int64_t most = 0;
    for (int r = 0; r < size_; ++r) most = std::max(most, call_.q_layout.count(r));
    return most;
  }

  double balance(const AttentionPlan& plan, double total) const {
    double busiest = 0;
    if (plan.form == Form::ring) {
      for (int t = 0; t < size_; ++t) {
        double most = 0;
        for (int r = 0; r < size_; ++r) {
          most = std::max(most, at(pairs_, r, (r + size_ - t) % size_));
        }
        busiest += most;
      }
    } else if (plan.form == Form::gather) {
      for (const std::int64_t share : plan.share) {
        busiest = std::max(busiest, static_cast<double>(share));
      }
    } else {
      const std::int64_t kv_heads = call_.all.kv_heads;
      busiest = total * static_cast<double>((kv_heads + size_ - 1) / size_) /
                static_cast<double>(kv_heads);
    }
    return busiest == 0 ? 1 : std::min(1.0, total / busiest / size_);
  }

  Call<T> call_;  // of which only shapes and divisions count
  int size_;
  Machine machine_;
  std::vector<std::vector<double>> pairs_;
  std::vector<std::vector<std::int64_t>> keys_;
};

template <class T>
void refuse_impossible(const char* function, const Call<T>& call) {
  if (call.ranks.form == Form::automatic) {
    std::string reason;
    for (const Form form : {Form::ring, Form::gather, Form::ulysses}) {
      reason = why_not(call, form);
      if (reason.empty()) return;
    }
    throw SharedError(std::string(function) + ".transport", reason);
  }
  const std::string reason = why_not(call, call.ranks.form);
  if (!reason.empty()) throw SharedError(std::string(function) + ".form", reason);
}

std::string bytes_text(std::int64_t bytes) {
  if (bytes < 10240) return std::to_string(bytes) + " bytes";
  const double kib = static_cast<double>(bytes) / 1024;
  return kib < 10240 ? fixed(kib, 0) + " KiB" : fixed(kib / 1024, 1) + " MiB";
}

}  // namespace

template <class T>
AttentionPlan plan_of(const char* function, const Call<T>& call) {
  refuse_impossible(function, call);
  return Counting<T>(call).plan(call);
}

template <class T>
Form form_of(const char* function, const Call<T>& call) {
  refuse_impossible(function, call);
  if (call.ranks.form != Form::automatic) return call.ranks.form;
  return plan_of(function, call).form;
}

std::string AttentionPlan::explain() const {
  std::string text = "ranks: " + std::to_string(ranks) + ", form " + std::string(name_of(form)) +
                     ", division " + std::string(name_of(division)) + "\n";
  text += "work: " + std::to_string(pairs) + " pairs of a query and a key; balance " +
          fixed(balance, 3) + " (1: no rank idles); shares";
  const auto least = std::min_element(share.begin(), share.end());
  const auto most = std::max_element(share.begin(), share.end());
  for (std::size_t r = 0; r < share.size() && r < 8; ++r) text += " " + std::to_string(share[r]);
  if (share.size() > 8) {
    text += " ..., from " + std::to_string(*least) + " to " + std::to_string(*most);
  }
  text += "\n";
  for (const Cost& cost : costs) {
    text += std::string(cost.form == form ? "* " : "  ") + std::string(name_of(cost.form)) + ": ";
    if (!cost.possible) {
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

template <AttentionElement T>
AttentionPlan plan(const Communicator& comm, View<const T> q, std::type_identity_t<View<const T>> k,
                   std::type_identity_t<View<const T>> v,
                   const AttentionOptions<std::type_identity_t<T>>& options, const Options& ranks) {
  constexpr const char* kFunction = "ranks.plan";
  return plan_of(kFunction, check_call<T>(kFunction, comm, q, k, v, options, ranks));
}

#define SEXTANT_INSTANTIATE(T)                                                                     \
  template AttentionPlan plan_of(const char*, const Call<T>&);                                     \
  template Form form_of(const char*, const Call<T>&);                                              \
  template AttentionPlan plan<T>(const Communicator&, View<const T>, View<const T>, View<const T>, \
                                 const AttentionOptions<T>&, const Options&);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
SEXTANT_INSTANTIATE(float16)
SEXTANT_INSTANTIATE(bfloat16)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::ranks
