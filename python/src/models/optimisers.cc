// Optimisers of models whose gradients Python has.
#include <nanobind/stl/string.h>

#include <cmath>
#include <memory>
#include <utility>

#include "bindings.h"
#include "calls.h"
#include "models/models.h"
#include "object_lock.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"

namespace sextant::python {
namespace {

// Changes the weights of a model, which it keeps.
class PyOptimiser {
 public:
  PyOptimiser(nb::object model, const Parameters<float>& parameters,
              const OptimiserOptions& options)
      : model_(std::move(model)),
        parameters_(parameters),
        rule_(make_optimiser(parameters, options)) {}

  double step(nb::handle gradients, nb::handle rate, nb::handle threads) {
    std::vector<Tensor<float>> arrays = read_arrays({gradients, "step", "gradients"}, parameters_);
    Parameters<float> list;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      list.push_back({parameters_[i].name, &arrays[i], parameters_[i].decays});
    }
    const double learning_rate = Argument{rate, "step", "learning_rate"}.number();
    const int count = Argument{threads, "step", "threads"}.threads();
    const double norm =
        lock_.change([&] { return rule_->step(parameters_, list, learning_rate, count); });
    if (std::isfinite(norm)) return norm;
    throw Error("step.gradients",
                "must be finite, got a norm of " + shortest(norm) + "; no weight was changed");
  }

  std::int64_t steps() const {
    return lock_.read([&] { return rule_->steps(); });
  }
  void set_steps(nb::handle steps) {
    const std::int64_t count = Argument{steps, "optimiser", "steps"}.integer_in(at_least(0));
    lock_.change([&] { rule_->set_steps(count); });
  }
  Parameters<float> state() { return rule_->state(); }

 private:
  nb::object model_;
  Parameters<float> parameters_;
  std::unique_ptr<Optimiser> rule_;
  ObjectLock lock_{"optimiser"};
};

nb::object new_optimiser(nb::object model, const std::string& method, const nb::dict& options) {
  OptimiserOptions chosen{.method = parse_name<OptimiserMethod>(method, "method")};
  const std::string call = method == "muon" ? "Muon" : "AdamW";
  visit_optimiser(chosen, taking({options, call}));
  PyTextModel* text = nullptr;
  PyTranslator* translator = nullptr;
  if (nb::try_cast(model, text) && text != nullptr) {
    return nb::cast(PyOptimiser(model, text->model->parameters(), chosen));
  }
  if (nb::try_cast(model, translator) && translator != nullptr) {
    return nb::cast(PyOptimiser(model, first_alone(*translator, call).parameters(), chosen));
  }
  throw_type_error({model, call, "model"}, "a model of sextant");
}

}  // namespace

void bind_optimisers(nb::module_& module) {
  nb::class_<PyOptimiser>(module, "Optimiser")
      .def("step", &PyOptimiser::step, nb::arg("gradients").none(), nb::arg("learning_rate").none(),
           nb::arg("threads").none(),
           nb::sig("def step(self, gradients: object, learning_rate: object, threads: object) -> "
                   "float"))
      .def("steps", &PyOptimiser::steps)
      .def("set_steps", &PyOptimiser::set_steps, nb::arg("steps").none(),
           nb::sig("def set_steps(self, steps: object) -> None"))
      .def(
          "state",
          [](nb::handle self) { return arrays_of(nb::cast<PyOptimiser&>(self).state(), self); },
          nb::sig("def state(self) -> dict[str, typing.Any]"));
  module.def("new_optimiser", &new_optimiser, nb::arg("model"), nb::arg("method"),
             nb::arg("options"),
             nb::sig("def new_optimiser(model: object, method: str, options: dict[str, "
                     "typing.Any]) -> Optimiser"));
}

}  // namespace sextant::python
