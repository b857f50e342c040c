#include "trace/interop/marks/fsdp_units.h"

#include <algorithm>
#include <charconv>

namespace shardlens::trace::interop {

namespace {

using Function = model::CollectiveFunction;
using What = FsdpMarks::Use::What;

bool is_what_it_does(What what, Function function) {
  if (what != What::kReduce) return function == Function::kAllGather;
  return function == Function::kReduceScatter || function == Function::kAllReduce;
}

// Elements with what fully_shard adds to the first dimension, so that all ranks have as much of it.
std::int64_t padded_elements(const DdpGradient& gradient, std::int64_t ranks) {
  std::int64_t first = 1;
  const std::string& shape = gradient.shape;  // "[768, 3072]"
  if (shape.size() > 1) std::from_chars(shape.data() + 1, shape.data() + shape.size(), first);
  if (first <= 0 || gradient.elements % first != 0) return gradient.elements;
  return (first + ranks - 1) / ranks * ranks * (gradient.elements / first);
}

// Those of one pass, by unit, where they are as many as were reduced.
void add_parameters(const FsdpMarks& marks, const TrainingPass& pass,
                    const std::vector<std::int64_t>& reduced_elements, FsdpUnits& found) {
  std::vector<std::vector<DdpGradient>> gradients(found.units.size());
  for (const DdpGradient& gradient : pass.gradients) {
    if (gradient.elements < 0) return;
    gradients[static_cast<std::size_t>(marks.unit_in_backward(gradient.start_ns))].push_back(
        gradient);
  }
  for (std::size_t i = 0; i < found.units.size(); ++i) {
    FsdpUnit& unit = found.units[i];
    std::int64_t elements = 0;
    for (const DdpGradient& each : gradients[i]) elements += padded_elements(each, unit.ranks);
    if (elements == 0 || elements != reduced_elements[i]) continue;
    unit.parameters = std::move(gradients[i]);
    unit.element_bytes = unit.bytes / elements;
  }
}

}  // namespace

FsdpUnits find_fsdp_units(const FsdpMarks& marks, std::span<const TrainingPass> passes,
                          std::span<const FsdpCall> calls) {
  FsdpUnits found;
  std::vector<base::Interval> backwards;
  for (const TrainingPass& pass : passes) backwards.push_back(pass.backward);
  for (const std::string& name : marks.unit_names()) found.units.push_back({.name = name});
  std::vector<std::int64_t> reduced_elements(found.units.size());
  for (const FsdpCall& call : calls) {
    const auto use = marks.use_at(call.asked_ns, backwards);
    if (!use || !is_what_it_does(use->what, call.function)) continue;
    FsdpUnit& unit = found.units[static_cast<std::size_t>(use->unit)];
    found.tags.push_back({call.call, use->unit, use->text(unit.name)});
    if (call.function == Function::kAllGather) {
      unit.bytes = std::max<std::int64_t>(call.bytes, 0);
      unit.ranks = call.ranks;
      unit.data_type = call.data_type;
    } else if (call.function == Function::kReduceScatter) {
      unit.reduced_bytes = std::max<std::int64_t>(call.bytes, 0);
      reduced_elements[static_cast<std::size_t>(use->unit)] = call.elements;
      found.ready.push_back({use->unit, use->ready_ns});
    }
  }
  if (!passes.empty()) add_parameters(marks, passes.back(), reduced_elements, found);
  return found;
}

}  // namespace shardlens::trace::interop
