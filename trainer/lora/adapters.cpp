#include "trainer/lora/adapters.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/autocast_mode.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "trace/job/shape/lora.h"

namespace shardlens::trainer::lora {

namespace {

// One of the two factors; a module of its own, so that its parameter has peft's name.
struct Factor : torch::nn::Module {
  Factor(std::int64_t rows, std::int64_t columns, torch::Device device) {
    weight = register_parameter(
        "weight", torch::empty({rows, columns}, torch::dtype(torch::kFloat32).device(device)));
  }
  torch::Tensor weight;
};

void add_adapter(const NamedLinear& target, const LoraOptions& options) {
  model::LinearLayer& layer = *target.layer;
  const auto device = layer.weight.device();
  const auto a = std::make_shared<Factor>(options.rank, layer.in_features(), device);
  const auto b = std::make_shared<Factor>(layer.out_features(), options.rank, device);
  layer.register_module(kLoraA, a);
  layer.register_module(kLoraB, b);
  fill_initial_adapter(target.name + "." + kLoraA + ".weight", layer.in_features(), 0, options.seed,
                       a->weight.detach());
  b->weight.detach().zero_();
  const double scaling = options.scaling(), dropout = options.dropout;
  layer.set_addition([owner = &layer, a, b, scaling, dropout](const torch::Tensor& x) {
    const bool drops = dropout > 0 && owner->is_training();
    // As peft, which drops values of the factors' type. Where nothing is dropped, autocast gives
    // the products the type they want, without a copy in between.
    const bool casts = drops || !at::autocast::is_autocast_enabled(x.device().type());
    const torch::Tensor input = casts ? x.to(a->weight.scalar_type()) : x;
    const torch::Tensor kept = drops ? at::dropout(input, dropout, /*train=*/true) : input;
    return at::linear(at::linear(kept, a->weight), b->weight) * scaling;
  });
}

// In registration order, with their whole names.
void collect(const torch::nn::Module& module, const std::string& prefix,
             std::vector<NamedLinear>& found) {
  for (const auto& item : module.named_children()) {
    const std::string name = prefix + item.key();
    if (trace::job::is_output_layer(name)) continue;
    if (auto layer = std::dynamic_pointer_cast<model::LinearLayer>(item.value())) {
      found.push_back({name, std::move(layer)});
    }
    collect(*item.value(), name + ".", found);
  }
}

}  // namespace

LoraOptions lora_options(const trace::job::Settings& settings) {
  return {settings.lora_rank, settings.lora_alpha, settings.lora_dropout,
          settings.lora_target_modules, static_cast<std::uint64_t>(settings.seed)};
}

std::vector<NamedLinear> linear_layers_of(const model::Model& model) {
  std::vector<NamedLinear> found;
  collect(model, "", found);
  return found;
}

trace::base::Result<std::vector<NamedLinear>> add_adapters(model::Model& model,
                                                           const LoraOptions& options) {
  std::vector<NamedLinear> layers = linear_layers_of(model);
  std::vector<std::string> names;
  for (const NamedLinear& each : layers) names.push_back(each.name);
  TRY_ASSIGN(const auto chosen, trace::job::lora_targets(options.targets, names));
  for (const auto& item : model.named_parameters()) {
    if (!trace::job::is_trained_head(item.key())) item.value().set_requires_grad(false);
  }
  const std::set<std::string> wanted(chosen.begin(), chosen.end());
  std::erase_if(layers, [&](const NamedLinear& each) { return !wanted.contains(each.name); });
  for (const NamedLinear& each : layers) add_adapter(each, options);
  return layers;
}

void fill_initial_adapter(const std::string& parameter, std::int64_t in_features,
                          std::int64_t begin, std::uint64_t seed, torch::Tensor into) {
  const torch::NoGradGuard no_grad;
  if (!parameter.ends_with(std::string(kLoraA) + ".weight")) {
    into.zero_();
    return;
  }
  // Kaiming's uniform distribution with a = √5 has the bound √(6 / (1 + 5) / in).
  const double bound = 1.0 / std::sqrt(static_cast<double>(in_features));
  at::Generator generator = at::detail::createCPUGenerator(stable_hash(parameter, seed));
  const torch::Tensor drawn =
      torch::empty({begin + into.numel()}, torch::kFloat32).uniform_(-bound, bound, generator);
  into.copy_(drawn.narrow(0, begin, into.numel()).view(into.sizes()));
}

std::uint64_t stable_hash(std::string_view text, std::uint64_t seed) {
  std::uint64_t hash = 14695981039346656037ull ^ seed;
  for (const char each : text) {
    hash = (hash ^ static_cast<unsigned char>(each)) * 1099511628211ull;
  }
  return hash;
}

bool is_adapter_parameter(std::string_view name) {
  return name.ends_with(".lora_A.weight") || name.ends_with(".lora_B.weight");
}

}  // namespace shardlens::trainer::lora
