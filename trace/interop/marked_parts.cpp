#include "trace/interop/marked_parts.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "trace/interop/marks/ddp_buckets.h"
#include "trace/model/untold.h"

namespace shardlens::trace::interop {

namespace {

// All-reduces by the pass of backward in which they were asked for.
std::vector<DdpBackward> backwards_of(std::span<const TrainingPass> passes,
                                      const std::vector<DdpReduction>& reductions) {
  std::vector<DdpBackward> backwards;
  for (const TrainingPass& pass : passes) {
    const auto [start_ns, end_ns] = pass.backward;
    const auto first = std::ranges::lower_bound(reductions, start_ns, {}, &DdpReduction::asked_ns);
    const auto last = std::ranges::lower_bound(reductions, end_ns, {}, &DdpReduction::asked_ns);
    backwards.push_back({pass.gradients, {first, last}});
  }
  return backwards;
}

model::Bucket row_of(const DdpBucket& bucket, RowIds& ids) {
  model::Bucket row;
  row.bytes = bucket.bytes;
  for (const DdpGradient& gradient : bucket.gradients) {
    row.parameters.push_back(ids.intern(gradient.shape));
    row.parameter_bytes.push_back(gradient.elements * gradient.element_bytes);
  }
  return row;
}

}  // namespace

std::string add_buckets(std::span<const TrainingPass> passes, KinetoCollectives& collectives,
                        RowIds& ids, model::Batch& rows) {
  const DdpBuckets found = find_ddp_buckets(backwards_of(passes, collectives.reductions()));
  for (const DdpBuckets::Tag& tag : found.tags) {
    collectives.tag(tag.call, model::TagKind::kBucket, tag.bucket);
  }
  for (const std::size_t call : found.used_parameters) {
    collectives.tag(call, model::TagKind::kNamed, -1, ids.intern(model::kUsedParameters));
  }
  for (std::size_t plan = 0; plan < found.plans.size(); ++plan) {
    for (std::size_t index = 0; index < found.plans[plan].size(); ++index) {
      model::Bucket& row = rows.buckets.emplace_back(row_of(found.plans[plan][index], ids));
      row.plan = static_cast<int>(plan);
      row.index = static_cast<int>(index);
    }
  }
  return found.why_none;
}

void add_units(const FsdpUnits& found, const KinetoPhases& phases, KinetoCollectives& collectives,
               RowIds& ids, model::Batch& rows) {
  for (const FsdpUnits::Tag& tag : found.tags) {
    collectives.tag(tag.call, model::TagKind::kUnit, tag.unit, ids.intern(tag.text));
  }
  for (const FsdpUnit& unit : found.units) {
    const auto index = static_cast<int>(&unit - found.units.data());
    rows.units.push_back({0, index, ids.intern(unit.name), unit.bytes, unit.bytes / unit.ranks,
                          unit.reduced_bytes, static_cast<int>(unit.ranks), unit.data_type});
    for (const DdpGradient& parameter : unit.parameters) {
      rows.unit_parameters.push_back(
          {0, index, ids.intern(parameter.shape), parameter.elements * unit.element_bytes});
    }
  }
  for (const FsdpUnits::Ready& each : found.ready) {
    rows.unit_ready.push_back({0, phases.step_at(each.time_ns), each.unit, each.time_ns});
  }
}

}  // namespace shardlens::trace::interop
