// The list of cases: one line each.
#include "attention/cases.h"

#include <algorithm>

#include "sextant/core/error.h"

namespace sextant::bench {
namespace {

// "causal alibi N=4096 D=64".
std::string name_of(const std::string& what, const Problem& problem) {
  return what + " N=" + std::to_string(problem.queries) + " D=" + std::to_string(problem.head_dim);
}

void add_forward(std::vector<Case>& cases, std::int64_t n) {
  const auto add = [&](const std::string& what, const std::string& target, Problem problem,
                       std::initializer_list<std::int64_t> widths = {64, 128}) {
    if (problem.queries == 0) problem.queries = n;
    problem.keys = problem.queries;
    for (const std::int64_t width : widths) {
      problem.head_dim = width;
      cases.push_back({name_of(what, problem), target, problem});
    }
  };
  const std::int64_t short_n = n / 8;
  const Problem causal{.causal = true};
  add("forward", "85 / 91 %; 1.1x", {}, {64});
  add("forward", "88 / 92.5 %; 1.1x", {}, {128});
  add("forward", "80 / 90 %; 1.1x", {.queries = short_n}, {64});
  add("forward", "83 / 91 %; 1.1x", {.queries = short_n}, {128});
  add("causal", "83 / 89 %; 1.4x", causal, {64});
  add("causal", "85 / 91 %; 1.3x", causal, {128});
  add("causal", "70 / 85 %; 2.3x", {.queries = short_n, .causal = true}, {64});
  add("causal", "", {.queries = short_n, .causal = true}, {128});
  add("alibi", "of plain 95 / 97 %; 1.25x", {.bias = "slopes"});
  add("causal alibi", "of plain 95 / 97 %; 2x", {.causal = true, .bias = "slopes"});
  add("distance bias", "of plain 95 / 97 %; 1.25x", {.bias = "distance"});
  add("causal distance bias", "of plain 95 / 97 %; 2x", {.causal = true, .bias = "distance"});
  add("causal window 512", "of plain 95 / 97 %; 2x", {.causal = true, .window = 512});
  // Long, for the memory: an array of all its pairs would take 8 GiB.
  add("causal window 512 distance bias", "of plain 95 / 97 %; 2 MiB",
      {.queries = 4 * n, .causal = true, .window = 512, .bias = "distance"}, {64});
  add("softcap", "78 / 84 %", {.softcap = 30}, {64});
  add("bf16", "80 / 88 %; 1.2x", {.dtype = "bf16"}, {64});
  add("f16", "80 / 88 %; 1.8x", {.dtype = "f16"}, {64});
  add("bf16 products", "150 / 150 %; 1.2x", {.dtype = "bf16", .rounded = true});
  add("causal bf16 products", "150 / 150 %; 1.2x",
      {.dtype = "bf16", .rounded = true, .causal = true});
  add("bf16 products", "150 / 150 %", {.queries = short_n, .dtype = "bf16", .rounded = true}, {64});
}

void add_decode(std::vector<Case>& cases, std::int64_t n) {
  for (const std::int64_t cache : {n, 4 * n}) {
    for (const char* dtype : {"f32", "bf16", "f16", "int8"}) {
      cases.push_back({"decode " + std::string(dtype) + " cache=" + std::to_string(cache),
                       "85 %; 2x",
                       {.kind = "decode",
                        .heads = 32,
                        .kv_heads = 8,
                        .queries = 1,
                        .keys = cache,
                        .head_dim = 128,
                        .dtype = dtype,
                        .causal = true}});
    }
  }
}

void add_backward(std::vector<Case>& cases, std::int64_t n) {
  const auto add = [&](const std::string& what, const std::string& target, Problem problem,
                       std::int64_t width) {
    problem.kind = "backward";
    problem.queries = problem.keys = n;
    problem.head_dim = width;
    cases.push_back({name_of("backward" + what, problem), target, problem});
  };
  for (const std::int64_t width : {64, 128}) {
    const bool narrow = width == 64;
    add("", narrow ? "80 / 90 %; 1.2x" : "84 / 90 %; 1.2x", {}, width);
    add(" causal", narrow ? "76 / 86 %; 1.45x" : "80 / 86 %; 1.45x", {.causal = true}, width);
    add(" distance bias", "of plain 92 %; 1.5x", {.bias = "distance"}, width);
    add(" one head", "2 threads 1.8x one; 1.15x", {.heads = 1, .kv_heads = 1}, width);
  }
}

void add_rotate(std::vector<Case>& cases, std::int64_t n) {
  for (const char* layout : {"half_split", "interleaved"}) {
    for (const bool in_place : {false, true}) {
      const Problem problem{.kind = "rotate",
                            .heads = 32,
                            .kv_heads = 32,
                            .queries = n,
                            .keys = n,
                            .head_dim = 128,
                            .layout = layout,
                            .in_place = in_place};
      const std::string what = "rotate " + std::string(layout) + (in_place ? " in place" : "");
      cases.push_back({name_of(what, problem), in_place ? "90 %; 1.2x" : "95 %; 1.2x", problem});
    }
  }
}

void add_small(std::vector<Case>& cases) {
  for (const std::int64_t n : {1, 4, 8, 15, 16, 17, 32}) {
    const Problem problem{.kind = "small", .queries = n, .keys = n, .head_dim = 64};
    cases.push_back({name_of("small", problem), "67 %; 3x", problem});
  }
  const Problem problem{
      .kind = "small", .queries = 32, .keys = 32, .head_dim = 128, .causal = true};
  cases.push_back({name_of("small causal", problem), "67 %; 3x", problem});
}

template <class P, class Use>
void for_each_field(P& problem, const Use& use) {
  use("kind", problem.kind);
  use("heads", problem.heads);
  use("kv_heads", problem.kv_heads);
  use("queries", problem.queries);
  use("keys", problem.keys);
  use("head_dim", problem.head_dim);
  use("dtype", problem.dtype);
  use("rounded", problem.rounded);
  use("causal", problem.causal);
  use("window", problem.window);
  use("bias", problem.bias);
  use("softcap", problem.softcap);
  use("layout", problem.layout);
  use("in_place", problem.in_place);
}

}  // namespace

std::vector<Case> all_cases(bool quick) {
  const std::int64_t n = quick ? 256 : 4096;
  std::vector<Case> cases;
  add_forward(cases, n);
  add_decode(cases, n);
  add_backward(cases, n / 2);
  add_rotate(cases, n);
  add_small(cases);
  return cases;
}

Json to_json(const Case& test) {
  Json json = {{"name", test.name}, {"target", test.target}};
  for_each_field(test.problem, [&](const char* name, const auto& value) { json[name] = value; });
  return json;
}

Case from_json(const Json& json) {
  Case test{json.at("name").text(), json.at("target").text(), {}};
  for_each_field(test.problem, [&](const char* name, auto& value) { json.at(name).get_to(value); });
  return test;
}

Prepared prepare(const Problem& problem) {
  if (problem.kind == "rotate") return prepare_rotate(problem);
  if (problem.kind == "backward") return prepare_backward(problem);
  return prepare_forward(problem);
}

double visible_pairs(const Problem& problem) {
  double pairs = 0;
  for (std::int64_t query = 0; query < problem.queries; ++query) {
    const std::int64_t own = query + problem.keys - problem.queries;
    const std::int64_t last = problem.causal ? own : problem.keys - 1;
    const std::int64_t first =
        problem.window > 0 ? std::max<std::int64_t>(0, own - problem.window + 1) : 0;
    pairs += static_cast<double>(std::max<std::int64_t>(0, last - first + 1));
  }
  return pairs;
}

}  // namespace sextant::bench
