#include "trace/tuning/sequence_work.h"

#include <cmath>

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

SequenceWork sequence_work(double attention_share, double ratio) {
  const double linear = ratio, quadratic = ratio * ratio;
  return {.factor = (1 - attention_share) * linear + attention_share * (linear + quadratic) / 2,
          .unsure = attention_share * std::abs(quadratic - linear) / 2};
}

}  // namespace shardlens::trace::tuning
