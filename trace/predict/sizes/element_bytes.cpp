#include "trace/predict/sizes/element_bytes.h"

#include "trace/job/shape/strategy.h"

namespace shardlens::trace::predict {

namespace {

std::int64_t bytes_of_type(job::DataType setting, std::int64_t automatic) {
  if (setting == job::DataType::kAuto) return automatic;
  return setting == job::DataType::kFp32 ? 4 : 2;
}

}  // namespace

ElementBytes element_bytes(const job::Settings& settings) {
  ElementBytes bytes;
  if (job::strategy_traits(settings.sharding_strategy).has_units) {
    bytes.gathered = bytes_of_type(settings.param_dtype, 4);
    bytes.reduced = bytes_of_type(settings.reduce_dtype, bytes.gathered);
  }
  bytes.autocast = settings.precision != job::Precision::kFp32;
  bytes.residual = bytes.gathered;
  bytes.product = bytes.autocast ? 2 : bytes.gathered;
  return bytes;
}

}  // namespace shardlens::trace::predict
