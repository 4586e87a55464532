// Declares what all optimisers have: options, a step, and a state for checkpoints.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/layers/parameters.h"

namespace sextant {

enum class OptimiserMethod {
  adamw,  // adamw.h
  muon,   // muon.h
};
// Returns "adamw", "muon"; parse_name<OptimiserMethod>() reads them back.
std::string_view name_of(OptimiserMethod method) noexcept;

struct OptimiserOptions {
  OptimiserMethod method = OptimiserMethod::adamw;  // for make_optimiser()
  double beta1 = 0.9;       // AdamW: 0 <= beta1 < 1: the share of the mean gradient that is kept
  double beta2 = 0.999;     // AdamW: 0 <= beta2 < 1: the same of the mean squared gradient
  double epsilon = 1e-8;    // AdamW: >= 1e-30: added to the root of the mean squared gradient
  double momentum = 0.95;   // Muon: 0 <= momentum < 1: the share of the mean gradient that is kept
  double weight_decay = 0;  // >= 0; only for Parameter::decays
  double clip_norm = 0;     // >= 0: the largest norm of all gradients together; 0: no limit
};

// An update rule. Another one derives from it, and has update() and state().
class Optimiser {
 public:
  virtual ~Optimiser() = default;

  // Makes one step. The gradients are then set to 0, for the next pass to add to. Returns the norm
  // of all gradients together, before clipping: a gradient is used as g * clip_norm / norm if the
  // norm is above clip_norm. If the norm is infinite or NaN, nothing changes and that norm is
  // returned. Throws Error for a rate that is negative or not finite, for lists other than those of
  // the constructor, and for threads out of range. The results do not depend on the threads.
  double step(const Parameters<float>& parameters, const Parameters<float>& gradients,
              double learning_rate, int threads = 0);

  // The data for a checkpoint: the number of steps, and tensors whose names are unique ("m.NAME").
  // The list refers to this object.
  std::int64_t steps() const noexcept { return steps_; }
  void set_steps(std::int64_t steps);  // throws Error if steps < 0
  virtual Parameters<float> state() = 0;

  const OptimiserOptions& options() const noexcept { return options_; }

  // What update() gets from step().
  struct Step {
    std::int64_t number;  // from 1
    double rate, factor;  // gradients count times the factor, which clips them
    int threads;
  };
  // The rule alone, without checks and without counting: changes the parameters and sets the
  // gradients to 0. Both lists are those of the constructor.
  virtual void update(const Parameters<float>& parameters, const Parameters<float>& gradients,
                      const Step& step) = 0;

 protected:
  // Stores names and shapes, not the tensors. Throws Error for options out of range.
  Optimiser(OptimiserMethod method, const Parameters<float>& parameters,
            const OptimiserOptions& options);

  // Throws Error("METHOD.what", ...) unless the list has the names and shapes of the constructor.
  void check(const char* what, const Parameters<float>& list) const;

  // Returns options().weight_decay for a parameter that decays, 0 for another one.
  double decay_of(const Parameter<float>& parameter) const noexcept {
    return parameter.decays ? options_.weight_decay : 0;
  }

 private:
  struct Known {
    std::string name;
    Shape shape;
  };

  OptimiserOptions options_;
  std::vector<Known> known_;
  std::int64_t steps_ = 0;
};

// Returns the optimiser that options.method names. Throws Error for options out of range.
std::unique_ptr<Optimiser> make_optimiser(const Parameters<float>& parameters,
                                          const OptimiserOptions& options = {});

}  // namespace sextant
