#include "trainer/model/recompute.h"

#include <torch/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "trainer/tensor/autocast_scope.h"
#include "trainer/tensor/random_state.h"

namespace shardlens::trainer::model {

namespace {

// What a second forward needs to equal the first.
struct Conditions {
  torch::Device device = torch::kCPU;
  torch::Tensor random_numbers;
  at::ScalarType compute_type = at::kFloat;

  static Conditions now(torch::Device device) {
    const bool autocast = at::autocast::is_autocast_enabled(device.type());
    return {device, tensor::generator_state(device),
            autocast ? at::autocast::get_autocast_dtype(device.type()) : at::kFloat};
  }
};

class GeneratorScope {
 public:
  explicit GeneratorScope(const Conditions& conditions)
      : device_(conditions.device), previous_(tensor::generator_state(device_)) {
    tensor::set_generator_state(device_, conditions.random_numbers);
  }
  ~GeneratorScope() { tensor::set_generator_state(device_, previous_); }
  GeneratorScope(const GeneratorScope&) = delete;
  GeneratorScope& operator=(const GeneratorScope&) = delete;

 private:
  torch::Device device_;
  torch::Tensor previous_;
};

// What a node of the graph remembers beside its input.
struct Memory : torch::CustomClassHolder {
  Memory(Layer::Forward with, Conditions under)
      : forward(std::move(with)), conditions(std::move(under)) {}
  Layer::Forward forward;
  Conditions conditions;
};

struct Recompute : torch::autograd::Function<Recompute> {
  static constexpr const char* kMemory = "memory";

  // `anchor` needs a gradient, so that the layer's parameters get theirs even if the input does
  // not.
  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& input, const torch::Tensor& /*anchor*/,
                               Layer::Forward inner) {
    auto memory = c10::make_intrusive<Memory>(std::move(inner), Conditions::now(input.device()));
    context->save_for_backward({input});
    torch::Tensor output = memory->forward(input);
    context->saved_data[kMemory] = c10::IValue::make_capsule(std::move(memory));
    return output;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto capsule = context->saved_data[kMemory].toCapsule();
    const auto& memory = static_cast<const Memory&>(*capsule);
    const torch::Tensor saved = context->get_saved_variables()[0];
    const bool wants_gradient = context->needs_input_grad(0);
    const torch::Tensor input = saved.detach().set_requires_grad(wants_gradient);
    torch::Tensor output;
    {
      const GeneratorScope random_numbers(memory.conditions);
      const tensor::AutocastScope autocast(memory.conditions.device.type(),
                                           memory.conditions.compute_type);
      const torch::AutoGradMode with_gradients(true);
      output = memory.forward(input);
    }
    torch::autograd::backward({output}, {gradients[0]});
    return {input.grad(), torch::Tensor(), torch::Tensor()};
  }
};

}  // namespace

void recompute_in_backward(Layer& layer) {
  const bool trains = std::ranges::any_of(
      layer.parameters(), [](const torch::Tensor& each) { return each.requires_grad(); });
  layer.wrap_forward([trains](const torch::Tensor& input, const Layer::Forward& inner) {
    // Where nothing needs a gradient, backward must not come: a second forward has no graph either.
    const bool has_backward = torch::GradMode::is_enabled() && (trains || input.requires_grad());
    if (!has_backward) return inner(input);
    const torch::Tensor anchor =
        torch::empty({0}, input.options().dtype(torch::kFloat32)).set_requires_grad(true);
    return Recompute::apply(input, anchor, inner);
  });
}

void recompute_every_nth_block(Model& model, std::int64_t n) {
  if (n == 0) return;
  const auto blocks = model.blocks();
  for (std::size_t i = 0; i < blocks.size(); i += static_cast<std::size_t>(n)) {
    recompute_in_backward(*blocks[i]);
  }
}

}  // namespace shardlens::trainer::model
