#include "trace/interop/marks/autograd_passes.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "trace/interop/json/collective_names.h"

namespace shardlens::trace::interop {

namespace {

constexpr std::string_view kGradient = "torch::autograd::AccumulateGrad";

}  // namespace

// Sparse gradients have neither type nor shape: "[[]]", as a single value.
void AutogradPasses::add(const KinetoEvent& event) {
  const std::string_view name = event.name;
  if (event.category != KinetoCategory::kOperator) return;
  if (event.node_number >= 0) add_number(event);
  if (name.starts_with(kAutogradNode)) {
    nodes_.push_back({event.time(), event.thread, name.substr(kAutogradNode.size()) == kGradient});
  } else if (name == kGradient && event.input_elements >= 0 && !event.input_type.empty()) {
    const TorchType type = torch_type_of_input(event.input_type);
    const auto [start_ns, end_ns] = event.time();
    sizes_.push_back({start_ns, end_ns, event.input_shape, std::string(type.name),
                      event.input_elements, type.bytes});
  }
}

void AutogradPasses::add_number(const KinetoEvent& event) {
  const Numbered numbered{event.node_number, event.start_ns};
  if (event.forward_thread > 0) return at_work_.push_back(numbered);
  auto& of_thread = operators_[event.thread];
  if (of_thread.empty() || of_thread.back().number != numbered.number) {
    of_thread.push_back(numbered);
  } else {
    of_thread.back().start_ns = std::max(of_thread.back().start_ns, numbered.start_ns);
  }
}

// Of a thread's operators with one number the last makes the node, as PyTorch has it, too
// (generateForwardBackwardLink in torch/csrc/profiler/collection.cpp): those before made none. Each
// thread counts for itself, and a node calls its thread otherwise than the trace: of all of them
// such a number counts.
void AutogradPasses::find_makers() {
  std::ranges::sort(at_work_);
  for (auto& [thread, of_thread] : operators_) {
    std::ranges::sort(of_thread);
    for (auto maker = of_thread.begin(); maker != of_thread.end(); ++maker) {
      const auto next = std::next(maker);
      if (next != of_thread.end() && next->number == maker->number) continue;
      const auto later = std::ranges::upper_bound(at_work_, *maker);
      const bool is_reached = later != at_work_.end() && later->number == maker->number;
      if (is_reached) makers_ns_.push_back(maker->start_ns);
    }
  }
  std::ranges::sort(makers_ns_);
  operators_.clear();
  at_work_ = {};
}

void AutogradPasses::finish(const std::function<bool(const base::Interval&)>& is_believed) {
  find_makers();
  std::erase_if(forwards_, [&](const Forward& forward) { return !is_believed(forward.time); });
  std::erase_if(nodes_, [&](const Node& node) { return !is_believed(node.time); });
  std::ranges::sort(forwards_, {}, &Forward::time);
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

// Of those from `first` to `last`, behind which a backward pass comes; the last where none is told.
std::vector<base::Interval> AutogradPasses::gone_through(std::size_t first, std::size_t last,
                                                         std::int64_t backward_ns) const {
  std::vector<base::Interval> through;
  for (std::size_t i = first; i <= last; ++i) {
    const auto& [time, is_whole] = forwards_[i];
    const std::int64_t next_ns = i < last ? forwards_[i + 1].time.start_ns : backward_ns;
    const auto maker = std::ranges::lower_bound(makers_ns_, time.start_ns);
    const bool is_reached =
        maker != makers_ns_.end() && *maker < (is_whole ? time.end_ns : next_ns);
    if (is_reached) through.push_back(time);
  }
  if (through.empty()) through.push_back(forwards_[last].time);
  return through;
}

std::vector<TrainingPass> AutogradPasses::passes() const {
  std::vector<TrainingPass> passes;
  std::size_t first = 0;  // behind the last backward pass
  auto node = nodes_.begin();
  for (std::size_t i = 0; i < forwards_.size(); ++i) {
    const bool is_last = i + 1 == forwards_.size();
    const std::int64_t next_ns = is_last ? INT64_MAX : forwards_[i + 1].time.start_ns;
    while (node != nodes_.end() && node->time.start_ns < forwards_[i].time.end_ns) ++node;
    if (node == nodes_.end() || node->time.start_ns >= next_ns) continue;
    TrainingPass pass{gone_through(first, i, node->time.start_ns), node->time, node->thread, {}};
    first = i + 1;
    for (; node != nodes_.end() && node->time.start_ns < next_ns; ++node) {
      pass.backward.end_ns = std::max(pass.backward.end_ns, node->time.end_ns);
    }
    pass.gradients = gradients_within(pass.backward);
    passes.push_back(std::move(pass));
  }
  return passes;
}

}  // namespace shardlens::trace::interop
