// Implements a moving average of the weights around any optimiser.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sextant/training/optimiser.h"

namespace sextant {

// Makes the steps of another optimiser and keeps an exponential moving average of the parameters
// (Tarvainen and Valpola 2017, arXiv 1703.01780). After step t = 1, 2, ..
//   kept = min(decay, (t - 1) / (t + 8)),  average <- average + (1 - kept) (parameter - average)
// in float32. The average starts at the parameters after the first step. The limit of `kept` is a
// warm-up in the form of TensorFlow's ExponentialMovingAverage: until it reaches the decay, after
// about 9 / (1 - decay) steps, the mean age of the averaged parameters is (t - 1) / 10 steps. With
// the decay alone a run shorter than 1 / (1 - decay) steps would mostly average its first
// parameters. Later the mean age is decay / (1 - decay) steps.
class AveragingOptimiser final : public Optimiser {
 public:
  // Continues the steps of the optimiser. The average is initially equal to the parameters. Throws
  // Error unless 0 <= decay < 1.
  AveragingOptimiser(std::unique_ptr<Optimiser> optimiser, const Parameters<float>& parameters,
                     double decay);

  // Exchange the values of the parameters and of the average, to score or save the average and to
  // go on; nothing changes where the parameters have these values already. Throw Error for a list
  // other than that of the constructor. step() throws Error between use_average() and
  // use_weights().
  void use_average(const Parameters<float>& parameters);
  void use_weights(const Parameters<float>& parameters);

  // Returns the state of the other optimiser and what the parameters do not have at the moment:
  // "average.NAME", after use_average() "weights.NAME".
  Parameters<float> state() override;
  void update(const Parameters<float>& parameters, const Parameters<float>& gradients,
              const Step& step) override;

 private:
  struct Slot {
    std::string name;
    Tensor<float> other;  // the average; the weights while the parameters have the average
  };
  void exchange(const Parameters<float>& parameters);

  std::unique_ptr<Optimiser> optimiser_;
  double decay_;
  std::vector<Slot> slots_;
  bool uses_average_ = false;
};

}  // namespace sextant
