#include "trace/tuning/work_factor.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "trace/base/text.h"
#include "trace/job/shape/lora.h"
#include "trace/timeline/words/kernel_class.h"

namespace shardlens::trace::tuning {

std::optional<double> attention_share(const std::map<std::string, double>& computed_ns) {
  using timeline::KernelClass;
  double all_ns = 0, attention_ns = 0;
  for (const auto& [name, ns] : computed_ns) {
    const KernelClass is = timeline::kernel_class_of(name);
    if (is == KernelClass::kOptimizer || is == KernelClass::kCommunication) continue;
    all_ns += ns;
    if (is == KernelClass::kAttention) attention_ns += ns;
  }
  if (attention_ns == 0) return std::nullopt;
  return attention_ns / all_ns;
}

WorkFactor sequence_work(double attention_share, double ratio) {
  const double linear = ratio, quadratic = ratio * ratio;
  return {.factor = (1 - attention_share) * linear + attention_share * (linear + quadratic) / 2,
          .unsure = attention_share * std::abs(quadratic - linear) / 2};
}

PaddedWork padded_work(const analysis::RunFigures& figures,
                       const std::optional<predict::PlannedJob>& job) {
  double samples = 0, tokens = 0, flops = 0;
  for (const analysis::StepFigures& step : figures.steps) {
    if (!step.tokens || step.samples.value_or(0) <= 0) continue;
    samples += static_cast<double>(*step.samples);
    tokens += static_cast<double>(*step.tokens);
    flops += static_cast<double>(step.model_flops.value_or(0));
  }
  if (tokens == 0) return {};
  const auto flops_of = [&](double width) {
    if (!job) return width;
    const auto per_token =
        job::flops_per_token(job->shape, job->settings, static_cast<std::int64_t>(width));
    return width * static_cast<double>(per_token);
  };
  const double least = flops_of(tokens / samples);
  const double most =
      flops_of(static_cast<double>(job ? job->sequence() : figures.info.settings.sequence_length));
  if (!job || flops == 0) return {.least = least / most, .most = most / least};
  const double mean = flops / samples;
  return {.least = std::min(1.0, least / mean), .most = std::max(1.0, most / mean)};
}

WorkFactor other_batch_work(const PaddedWork& padded, bool has_more) {
  const double other = has_more ? padded.most : padded.least;
  return {.factor = (1 + other) / 2, .unsure = std::abs(other - 1) / 2};
}

std::optional<std::int64_t> cores_named(std::string_view device_name) {
  constexpr std::string_view kCores = " cores", kComma = ", ";
  if (!device_name.ends_with(kCores)) return std::nullopt;
  device_name.remove_suffix(kCores.size());
  const auto comma = device_name.rfind(kComma);
  if (comma == device_name.npos) return std::nullopt;
  device_name.remove_prefix(comma + kComma.size());
  const auto cores = base::number_from<std::int64_t>(device_name);
  return cores.value_or(0) < 1 ? std::nullopt : cores;
}

double cores_of_a_rank(const job::Settings& settings, std::int64_t cores) {
  const auto ranks = static_cast<double>(std::max<std::int64_t>(1, settings.ranks));
  const auto threads = static_cast<double>(job::threads_of_a_rank(settings, settings.ranks, cores));
  return std::min(threads, static_cast<double>(cores) / ranks);
}

}  // namespace shardlens::trace::tuning
