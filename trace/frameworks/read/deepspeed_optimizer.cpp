#include <string>
#include <vector>

#include "trace/base/number_text.h"
#include "trace/base/text.h"
#include "trace/frameworks/read/framework_readers.h"

namespace shardlens::trace::frameworks {

namespace {

// Defaults of DeepSpeed 0.19.8 (runtime/lr_schedules.py).
constexpr std::int64_t kWarmupSteps = 1000;
constexpr double kDecayPeak = 0.001;
constexpr double kLowestCosine = 0.0001;

std::string parameter(std::string_view name) { return "scheduler.params." + std::string(name); }

// Ours rises from zero, or not at all.
void read_warmup(ConfigReader& in, const std::string& from_key, double from, double peak) {
  const std::string key = parameter("warmup_num_steps");
  const std::int64_t steps = in.whole(key).value_or(kWarmupSteps);
  const bool rises = from != peak;
  if (!in.is_left(key, {"warmup_steps"}) || !rises) {
    in.set("warmup_steps", std::to_string(rises ? steps : 0), key);
  }
  const std::string begin_key = parameter("last_batch_iteration");
  if (in.whole(begin_key).value_or(0) > 0) {
    in.ignore(begin_key, "a schedule begins with the first step here");
  }
  if (rises && from != 0) in.ignore(from_key, "a warm-up begins at zero here");
  if (in.text(parameter("warmup_type")).value_or("log") != "linear" && rises) {
    in.ignore(parameter("warmup_type"), "a warm-up is linear here");
    if (!in.has(parameter("warmup_type"))) {
      in.remark("the warm-up is linear here; DeepSpeed's default rises with the logarithm");
    }
  }
}

void read_total(ConfigReader& in) {
  const std::string key = parameter("total_num_steps");
  if (const auto steps = in.whole(key)) in.set("steps", std::to_string(*steps), key);
}

void read_rates(ConfigReader& in, std::string_view schedule) {
  const std::string from_key = parameter("warmup_min_lr"), peak_key = parameter("warmup_max_lr");
  const auto from = in.number(from_key), peak = in.number(peak_key);
  const bool decays = schedule == "linear";
  if (peak || (decays && !in.is_left(peak_key, {"learning_rate"}))) {
    in.set("learning_rate", base::shortest_text(peak.value_or(kDecayPeak)), peak_key);
  }
  read_warmup(in, from_key, from.value_or(0), in.settings().learning_rate);
  const bool is_flat = !decays && in.settings().warmup_steps == 0;
  in.set("lr_schedule", is_flat ? "constant" : std::string(schedule), "scheduler.type");
}

void read_cosine(ConfigReader& in) {
  const std::string key = parameter("cos_min_ratio");
  const double lowest = in.number(key).value_or(kLowestCosine);
  in.set("lr_schedule", lowest == 0 ? "cosine" : "cosine_with_min_lr", "scheduler.type");
  if (lowest != 0) in.set("lr_min_ratio", base::shortest_text(lowest), key);
  const std::string from_key = parameter("warmup_min_ratio");
  read_warmup(in, from_key, in.number(from_key).value_or(0), 1);
}

void read_number(ConfigReader& in, const std::string& name, std::string_view knob,
                 const std::string& absent) {
  const std::string key = "optimizer.params." + name;
  if (in.is_left(key, {knob})) return;
  const auto value = in.number(key);
  in.set(knob, value ? base::shortest_text(*value) : absent, key);
}

void read_betas(ConfigReader& in) {
  const std::string key = "optimizer.params.betas";
  if (in.is_left(key, {"adam_beta1", "adam_beta2"})) return;
  const auto betas = in.numbers(key).value_or(std::vector{0.9, 0.999});
  if (betas.size() != 2) return in.fail(key, "must be two numbers, as [0.9, 0.999]");
  in.set("adam_beta1", base::shortest_text(betas.front()), key);
  in.set("adam_beta2", base::shortest_text(betas.back()), key);
}

}  // namespace

void read_deepspeed_optimizer(ConfigReader& in) {
  if (!in.is_left("gradient_clipping", {"max_grad_norm"})) {
    const double norm = in.number("gradient_clipping").value_or(0);
    in.set("max_grad_norm", base::shortest_text(norm), "gradient_clipping");
  }
  const auto type = in.text("optimizer.type");
  if (!type) return in.leave({"optimizer"});
  const auto is = [&](std::string_view name) { return base::equal_but_for_case(*type, name); };
  const bool is_sgd = is("sgd");
  if (!is_sgd && !is("adam") && !is("adamw")) {
    in.ignore("optimizer.type", "only AdamW and SGD train here; AdamW does");
  }
  in.set("optimizer", is_sgd ? "sgd" : "adamw", "optimizer.type");
  // What is absent is as in DeepSpeed's FusedAdam and PyTorch's SGD.
  read_number(in, "lr", "learning_rate", "0.001");
  if (is_sgd) return read_number(in, "weight_decay", "weight_decay", "0");
  read_number(in, "eps", "adam_epsilon", "1e-08");
  read_betas(in);
  const bool is_coupled = in.boolean("optimizer.params.adam_w_mode") == false;
  if (is_coupled) {
    in.ignore("optimizer.params.adam_w_mode", "weight decay is decoupled here, as in AdamW");
  }
  // PyTorch's AdamW, which decays by itself; its Adam does not.
  const bool is_torchs = in.boolean("optimizer.params.torch_adam") == true;
  const bool decays = is_torchs && (is("adamw") || !is_coupled);
  read_number(in, "weight_decay", "weight_decay", decays ? "0.01" : "0");
}

void read_deepspeed_schedule(ConfigReader& in) {
  const auto type = in.text("scheduler.type");
  if (!type) return;
  if (*type == "WarmupLR") return read_rates(in, "constant_with_warmup");
  if (*type == "WarmupDecayLR") {
    read_total(in);
    return read_rates(in, "linear");
  }
  if (*type == "WarmupCosineLR") {
    read_total(in);
    return read_cosine(in);
  }
  in.ignore("scheduler.type", "no schedule here is like it; set lr_schedule");
}

}  // namespace shardlens::trace::frameworks
