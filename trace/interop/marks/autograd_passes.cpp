#include "trace/interop/marks/autograd_passes.h"

#include <algorithm>
#include <utility>

#include "trace/interop/json/nccl_names.h"

namespace shardlens::trace::interop {

namespace {

constexpr std::string_view kGradient = "torch::autograd::AccumulateGrad";

base::Interval time_of(const KinetoEvent& event) {
  return {event.start_ns, event.start_ns + event.duration_ns};
}

}  // namespace

// Sparse gradients have neither type nor shape: "[[]]", as a single value.
void AutogradPasses::add(const KinetoEvent& event) {
  const std::string_view name = event.name;
  if (event.category != KinetoCategory::kOperator) return;
  if (name.starts_with(kAutogradNode)) {
    nodes_.push_back(
        {time_of(event), event.thread, name.substr(kAutogradNode.size()) == kGradient});
  } else if (name == kGradient && event.input_elements >= 0 && !event.input_type.empty()) {
    const TorchType type = torch_type_of_input(event.input_type);
    const auto [start_ns, end_ns] = time_of(event);
    sizes_.push_back({start_ns, end_ns, event.input_shape, std::string(type.name),
                      event.input_elements, type.bytes});
  }
}

void AutogradPasses::finish(const std::function<bool(const base::Interval&)>& is_believed) {
  std::erase_if(forwards_, [&](const auto& time) { return !is_believed(time); });
  std::erase_if(nodes_, [&](const Node& node) { return !is_believed(node.time); });
  std::ranges::sort(forwards_);
  std::ranges::stable_sort(nodes_, {}, [](const Node& node) { return node.time.start_ns; });
  std::ranges::stable_sort(sizes_, {}, &DdpGradient::start_ns);
}

std::vector<DdpGradient> AutogradPasses::gradients_within(const base::Interval& backward) const {
  std::vector<DdpGradient> gradients;
  auto node = std::ranges::lower_bound(nodes_, backward.start_ns, {},
                                       [](const Node& each) { return each.time.start_ns; });
  for (; node != nodes_.end() && node->time.start_ns < backward.end_ns; ++node) {
    if (!node->is_gradient) continue;
    const auto& [start_ns, end_ns] = node->time;
    DdpGradient gradient{.start_ns = start_ns, .end_ns = end_ns, .shape = {}, .type = {}};
    const auto size = std::ranges::lower_bound(sizes_, start_ns, {}, &DdpGradient::start_ns);
    if (size != sizes_.end() && size->end_ns <= end_ns) {
      gradient = *size;
      gradient.start_ns = start_ns;
      gradient.end_ns = end_ns;
    }
    gradients.push_back(std::move(gradient));
  }
  return gradients;
}

BackwardTimes AutogradPasses::times() const {
  BackwardTimes times;
  for (const Node& node : nodes_) {
    times.nodes.push_back(node.time);
    if (node.is_gradient) times.gradients_ns.push_back(node.time.start_ns);
  }
  times.nodes = base::normalize(std::move(times.nodes));
  return times;
}

std::vector<TrainingPass> AutogradPasses::passes() const {
  std::vector<TrainingPass> passes;
  auto node = nodes_.begin();
  for (std::size_t i = 0; i < forwards_.size(); ++i) {
    const std::int64_t next_ns = i + 1 < forwards_.size() ? forwards_[i + 1].start_ns : INT64_MAX;
    while (node != nodes_.end() && node->time.start_ns < forwards_[i].end_ns) ++node;
    if (node == nodes_.end() || node->time.start_ns >= next_ns) continue;
    TrainingPass pass{forwards_[i], node->time, node->thread, {}};
    for (; node != nodes_.end() && node->time.start_ns < next_ns; ++node) {
      pass.backward.end_ns = std::max(pass.backward.end_ns, node->time.end_ns);
    }
    pass.gradients = gradients_within(pass.backward);
    passes.push_back(std::move(pass));
  }
  return passes;
}

}  // namespace shardlens::trace::interop
