#include "trace/interop/marks/fsdp_units.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "trace/base/text.h"

namespace shardlens::trace::interop {

namespace {

using Function = model::CollectiveFunction;
using Use = UnitMarks::Use;

bool is_what_it_does(Use::What what, Function function) {
  if (what != Use::What::kReduce) return function == Function::kAllGather;
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
void add_parameters(const UnitMarks& marks, const TrainingPass& pass,
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

// What its collectives move is that of one unit; "": it is.
class SameSizes {
 public:
  explicit SameSizes(std::size_t units) : elements_(units, kNotTold) {}

  void add(const AskedCall& call, std::size_t index, const FsdpUnit& unit) {
    if (!why_none_.empty()) return;
    if (call.elements < 0) {
      why_none_ =
          "it does not tell how much was gathered and reduced (record it with record_shapes=True)";
      return;
    }
    // Groups of ranks add up their shards.
    const std::int64_t parts = call.function == Function::kAllReduce ? unit.ranks : 1;
    std::int64_t elements = 0;
    if (__builtin_mul_overflow(call.elements, parts, &elements)) elements = INT64_MAX;
    std::int64_t& known = elements_[index];
    if (known != kNotTold && known != elements) {
      why_none_ = "for " + unit.name + " " + base::grouped(known) + " elements are moved at one " +
                  "time and " + base::grouped(elements) +
                  " at another: it is not always the same one, or fewer ranks share it than the "
                  "trace tells";
    }
    known = elements;
  }
  const std::string& why_none() const { return why_none_; }

 private:
  static constexpr std::int64_t kNotTold = -1;
  std::vector<std::int64_t> elements_;  // by unit
  std::string why_none_;
};

}  // namespace

FsdpUnits find_fsdp_units(const UnitMarks& marks, std::span<const TrainingPass> passes,
                          std::span<const AskedCall> calls) {
  FsdpUnits found{.why_none = marks.why_none()};
  if (!marks.has_units()) return found;
  std::vector<base::Interval> backwards;
  for (const TrainingPass& pass : passes) backwards.push_back(pass.backward);
  for (const std::string& name : marks.unit_names()) found.units.push_back({.name = name});
  std::vector<std::int64_t> reduced_elements(found.units.size());
  SameSizes sizes(found.units.size());
  for (const AskedCall& call : calls) {
    const auto use = marks.use_at(call.asked_ns, backwards);
    if (!use || !is_what_it_does(use->what, call.function)) continue;
    if (call.ranks == 0 && call.function != Function::kAllReduce) {
      return {.why_none = "it does not tell how many ranks share them"};
    }
    const auto index = static_cast<std::size_t>(use->unit);
    FsdpUnit& unit = found.units[index];
    found.tags.push_back({call.call, use->unit, use->text(unit.name)});
    if (call.function == Function::kAllGather) {
      unit.bytes = std::max<std::int64_t>(call.bytes, 0);
      unit.ranks = call.ranks;
      unit.data_type = call.data_type;
    } else if (call.function == Function::kReduceScatter || unit.ranks == 1) {
      unit.reduced_bytes = std::max<std::int64_t>(call.bytes, 0);
      if (call.function == Function::kReduceScatter) unit.ranks = call.ranks;
      reduced_elements[index] = call.elements;
      found.ready.push_back({use->unit, use->ready_ns});
    }
    sizes.add(call, index, unit);
  }
  const std::string why_none = found.tags.empty()
                                   ? "nothing was gathered or reduced where they are marked"
                               : marks.are_inferred() ? sizes.why_none()
                                                      : "";
  if (!why_none.empty()) return {.why_none = why_none};
  if (marks.are_inferred()) return found;  // the gradients of a unit are one tensor
  if (!passes.empty()) add_parameters(marks, passes.back(), reduced_elements, found);
  return found;
}

}  // namespace shardlens::trace::interop
