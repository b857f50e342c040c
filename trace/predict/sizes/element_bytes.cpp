#include "trace/predict/sizes/element_bytes.h"

#include "trace/job/shape/strategy.h"

namespace shardlens::trace::predict {

namespace {

job::DataType chosen(job::DataType setting, job::DataType automatic) {
  return setting == job::DataType::kAuto ? automatic : setting;
}

std::int64_t bytes_of(job::DataType type) { return type == job::DataType::kFp32 ? 4 : 2; }

}  // namespace

ElementBytes element_bytes(const job::Settings& settings) {
  ElementBytes bytes;
  if (job::strategy_traits(settings.sharding_strategy).has_units) {
    const job::DataType gathered = chosen(settings.param_dtype, job::DataType::kFp32);
    const job::DataType reduced = chosen(settings.reduce_dtype, gathered);
    bytes.gathered = bytes_of(gathered);
    bytes.reduced = bytes_of(reduced);
    bytes.adds_as_reduced = reduced != gathered;
  }
  bytes.autocast = settings.precision != job::Precision::kFp32;
  bytes.residual = bytes.gathered;
  bytes.product = bytes.autocast ? 2 : bytes.gathered;
  return bytes;
}

}  // namespace shardlens::trace::predict
