// Declares what the parts of `sextant attend` share: the options, and how maps are shown.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "calls/printed_call.h"
#include "core/options/field_words.h"
#include "models/model_option.h"
#include "options/options.h"
#include "options/scheme_choice.h"
#include "sextant/figures/attention_maps.h"
#include "sextant/lessons/sentence_attention.h"
#include "streams/table_output.h"

namespace sextant::app {

inline constexpr Format kAttendFormats[] = {Format::text, Format::csv, Format::json, Format::npy,
                                            Format::svg,  Format::png, Format::pdf,  Format::html};

// The options of seeded random weights.
inline const std::vector<Wording> kSentenceWords = {
    {.field = "first_position", .hidden = true},
    {.field = "window", .type = "L,R"},
    {.field = "sinks", .type = "X[,X...]"},
    {.field = "hidden", .option = "--hide", .type = "PAIRS"}};

struct Attend {
  TextInput text;
  std::string second;
  const CLI::Option* second_option = nullptr;
  const CLI::Option* target_option = nullptr;  // the second text after the first
  std::int64_t head = -1;
  bool lines = false;
  Output output;
  CallChoice call;

  // Options for seeded random weights.
  Splitting splitting;
  SentenceAttentionOptions options;
  SchemeChoice choice;
  std::string step;  // which one to show; "all" in JSON; empty: the weights as maps

  std::string vectors;  // a .vec file: attention of these vectors, without learned weights

  // Options for a trained model.
  ModelOption model;
  std::string part;
  std::optional<std::int64_t> layer;
  std::optional<std::pair<std::int64_t, std::int64_t>> rows;  // queries [begin, end), from 0
  std::string image;                                          // a .npy file, of an image model
  bool overview = false;                                      // all heads by their roles

  bool has_second() const { return second_option->count() + target_option->count() > 0; }
};

using figures::HeadMaps;

// Text, JSON and pages have every number of a map in digits, some 20 bytes each. Throws Error for
// more of them than a browser can open.
inline constexpr double kMaxWrittenWeights = 1 << 21;
void check_written(const Attend& attend, double weights);

// One block of numbers or colours per head.
std::string text_of(const HeadMaps& maps, bool blocks);

// Writes maps in the requested format. Callers with more data make JSON and pages; otherwise a page
// has only the maps. `further` follows maps that are text.
void write_maps(const Attend& attend, const HeadMaps& maps,
                const std::function<std::string()>& json, const std::function<std::string()>& page,
                const std::string& further = "");

// --step.
void add_steps(CLI::App& command, Attend& attend);
// Shows one step between words and output, or all.
void attend_step(const Attend& attend, const std::vector<std::string>& first,
                 const std::vector<std::string>& second);

// The maps of a trained model, of an image model, and those of word vectors.
void attend_trained(const Attend& attend);
void attend_image(const Attend& attend);
void attend_with_vectors(const Attend& attend);

}  // namespace sextant::app
