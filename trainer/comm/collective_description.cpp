#include "trainer/comm/collective_description.h"

#include <cmath>

#include "trace/base/checksum.h"
#include "trace/model/traffic.h"

namespace shardlens::trainer::comm {

std::string_view to_text(torch::ScalarType type) {
  switch (type) {
    case torch::kFloat32:
      return "float32";
    case torch::kFloat64:
      return "float64";
    case torch::kFloat16:
      return "float16";
    case torch::kBFloat16:
      return "bfloat16";
    case torch::kInt64:
      return "int64";
    case torch::kInt32:
      return "int32";
    case torch::kInt16:
      return "int16";
    case torch::kInt8:
      return "int8";
    case torch::kUInt8:
      return "uint8";
    case torch::kBool:
      return "bool";
    default:
      return c10::toString(type);
  }
}

std::string to_text(const CollectiveTag& tag) {
  switch (tag.kind) {
    case trace::model::TagKind::kBucket:
      return "bucket " + std::to_string(tag.index);
    case trace::model::TagKind::kUnit:
      return "unit " + std::to_string(tag.index);
    case trace::model::TagKind::kNamed:
      return tag.name;
    case trace::model::TagKind::kNone:
      break;
  }
  return "";
}

std::string to_text(const CollectiveDescription& description) {
  std::string text = "collective " + std::to_string(description.sequence) + " (";
  text += trace::model::to_string(description.function);
  if (description.bytes > 0) {
    text += " of " + std::to_string(description.bytes) + " bytes ";
    text += to_text(description.type);
  }
  const std::string tag = to_text(description.tag);
  if (!tag.empty()) text += " for " + tag;
  return text + ")";
}

std::uint32_t fingerprint(const CollectiveDescription& description) {
  // Of the text, which holds everything that must agree.
  return static_cast<std::uint32_t>(trace::base::checksum_of(to_text(description)));
}

std::chrono::nanoseconds latency(const trace::job::SimulatedLink& link, int world_size) {
  if (world_size < 2) return std::chrono::nanoseconds(0);
  return std::chrono::nanoseconds(std::llround(link.latency_us * 1e3));
}

std::chrono::nanoseconds transfer_time(const trace::job::SimulatedLink& link,
                                       const CollectiveDescription& description, int world_size) {
  if (world_size < 2 || link.gbps <= 0) return std::chrono::nanoseconds(0);
  const double sent = static_cast<double>(description.bytes) *
                      trace::model::bus_factor(description.function, world_size);
  return std::chrono::nanoseconds(std::llround(sent * 8 / link.gbps));  // bits ÷ (10⁹ bits/s) = ns
}

}  // namespace shardlens::trainer::comm
