// Lets the Python tests see what the trainer's parts compute.
//   trainer_probe models FILE    three small models: shape, weights, batch, logits, loss, gradients
//   trainer_probe schedules      lines "steps key=value …" → the learning rate of each step
//   trainer_probe sampler        lines "samples ranks rank shuffle drop_last seed epoch" → indices
#include <torch/serialize.h>
#include <torch/types.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "trainer/data/batch_stream.h"
#include "trainer/model/build_model.h"
#include "trainer/optimizer/learning_rate.h"
#include "trainer/strategy/ddp/data_parallel.h"

namespace {

using namespace shardlens::trainer;

using Values = c10::Dict<std::string, torch::Tensor>;

model::ModelShape small_shape(model::ModelLayout layout, bool tied, double rotary_factor) {
  model::ModelShape shape;
  shape.name = "small";
  shape.layout = layout;
  shape.layers = 2;
  shape.width = 32;
  shape.heads = 4;
  shape.kv_heads = layout == model::ModelLayout::kGpt2 ? 4 : 2;
  shape.mlp_width = layout == model::ModelLayout::kGpt2 ? 128 : 48;
  shape.vocabulary = 320;
  shape.context = 64;
  shape.tied_head = tied;
  // Rotary waves on both sides of both limits, so that all three branches of the scaling act.
  shape.rotary_base = 1000;
  shape.rotary = {rotary_factor, 1, 4, 64};
  return shape;
}

void add_shape(Values& values, const std::string& prefix, const model::ModelShape& s) {
  auto add = [&](const char* name, double value) {
    values.insert(prefix + "shape." + name, torch::tensor(value, torch::kFloat64));
  };
  auto add_count = [&](const char* name, std::int64_t value) {
    values.insert(prefix + "shape." + name, torch::tensor(value, torch::kLong));
  };
  add_count("gpt2", s.layout == model::ModelLayout::kGpt2);
  add_count("layers", s.layers);
  add_count("width", s.width);
  add_count("heads", s.heads);
  add_count("kv_heads", s.kv_heads);
  add_count("mlp_width", s.mlp_width);
  add_count("vocabulary", s.vocabulary);
  add_count("context", s.context);
  add_count("tied_head", s.tied_head);
  add("norm_epsilon", s.norm_epsilon);
  add("rotary_base", s.rotary_base);
  add("rotary_factor", s.rotary.factor);
  add("low_frequency_factor", s.rotary.low_frequency_factor);
  add("high_frequency_factor", s.rotary.high_frequency_factor);
  add_count("original_context", s.rotary.original_context);
}

void add_model(Values& values, const std::string& name, const model::ModelShape& shape) {
  const std::string prefix = name + "/";
  add_shape(values, prefix, shape);
  const auto model = model::build_model(shape, {0.0, 7, torch::kCPU});
  torch::manual_seed(11);
  const auto parameters = tensor::named_parameters_of(*model);
  for (const auto& parameter : parameters) {
    // Initial biases of 0 and scales of 1 would hide where they are applied.
    const torch::NoGradGuard no_grad;
    parameter.tensor.add_(torch::randn_like(parameter.tensor), 0.2);
    values.insert(prefix + "weight." + parameter.name, parameter.tensor.detach().clone());
  }
  const auto text = torch::randint(0, 257, {3, 41}, torch::kLong);
  const auto tokens = text.narrow(1, 0, 40).contiguous();
  const auto targets = text.narrow(1, 1, 40).contiguous();
  const auto loss = model->loss(tokens, targets);
  loss.backward();
  values.insert(prefix + "tokens", tokens);
  values.insert(prefix + "targets", targets);
  values.insert(prefix + "logits", model->logits(tokens).detach());
  values.insert(prefix + "loss", loss.detach());
  for (const auto& parameter : parameters) {
    values.insert(prefix + "gradient." + parameter.name, parameter.tensor.grad());
  }
}

int write_models(const char* path) {
  Values values;
  add_model(values, "gpt2", small_shape(model::ModelLayout::kGpt2, true, 0));
  add_model(values, "llama", small_shape(model::ModelLayout::kLlama, false, 0));
  add_model(values, "llama3", small_shape(model::ModelLayout::kLlama, true, 8));
  const auto bytes = torch::pickle_save(values);
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return file.good() ? 0 : 1;
}

int print_samplers() {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    data::SamplerOptions options;
    std::int64_t epoch = 0;
    words >> options.samples >> options.world_size >> options.rank >> options.shuffle >>
        options.drop_last >> options.seed >> epoch;
    const data::DistributedSampler sampler(options);
    const auto order = sampler.order(epoch);
    for (std::int64_t i = 0; i < sampler.size(); ++i) {
      std::printf("%lld ", static_cast<long long>(*sampler.sample_at(order, options.rank, i)));
    }
    std::printf("\n");
  }
  return 0;
}

int print_schedules() {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::int64_t steps = 0;
    words >> steps;
    shardlens::trace::job::Settings settings;
    for (std::string assignment; words >> assignment;) {
      if (!shardlens::trace::job::set_assignment(settings, assignment)) return 1;
    }
    for (std::int64_t step = 0; step < steps; ++step) {
      std::printf("%.17g ", optimizer::learning_rate_at(settings, step, steps));
    }
    std::printf("\n");
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "";
  if (what == "models" && count == 3) return write_models(arguments[2]);
  if (what == "sampler") return print_samplers();
  if (what == "schedules") return print_schedules();
  std::fputs("trainer_probe models FILE | sampler | schedules\n", stderr);
  return 2;
}
