#include "trainer/comm/collective_description.h"

#include <cmath>

#include "trace/base/checksum.h"
#include "trace/model/traffic.h"

namespace shardlens::trainer::comm {

std::string name_of(torch::ScalarType type) { return c10::getDtypeNames(type).first; }

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
    text += name_of(description.type);
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
  if (world_size < 2 || link.gbit_per_s <= 0) return std::chrono::nanoseconds(0);
  const double sent = static_cast<double>(description.bytes) *
                      trace::model::bus_factor(description.function, world_size);
  return std::chrono::nanoseconds(
      std::llround(sent * 8 / link.gbit_per_s));  // bits ÷ (10⁹ bits/s) = ns
}

std::string failure_text(const CollectiveDescription& description, int world_rank,
                         const std::string& reason) {
  return to_text(description) + " failed on rank " + std::to_string(world_rank) + ": " + reason;
}

std::string timeout_reason(std::chrono::milliseconds timeout) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout);
  // The launcher knows a hang by the setting's name (any_ran_out_of_patience).
  return "the other ranks did not take part within " + std::to_string(seconds.count()) +
         " s (collective_timeout_s). A rank is stopped, hangs or entered another collective; "
         "compare the last collectives of the ranks.";
}

}  // namespace shardlens::trainer::comm
