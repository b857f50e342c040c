#include "tests/fake_gpu/cuda/capture.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace shardlens::fake_gpu {
namespace {

// Whether `first` and what it depends on are all nodes.
bool leads_everywhere(const Graph& graph, const std::vector<Node*>& first) {
  std::set<const Node*> reached;
  std::vector<Node*> next = first;
  while (!next.empty()) {
    const Node* node = next.back();
    next.pop_back();
    if (!reached.insert(node).second) continue;
    next.insert(next.end(), node->dependencies.begin(), node->dependencies.end());
  }
  return reached.size() == graph.nodes.size();
}

struct Branch {
  int number;
  std::vector<Node*> tails;  // what its next node depends on
};

struct Capture {
  unsigned long long id;
  std::unique_ptr<Graph> graph;
  Stream* origin;
  cudaStreamCaptureMode mode;
  std::thread::id thread;
  bool is_broken = false;
  std::map<const Stream*, Branch> branches = {};
};

struct CapturedEvent {
  std::weak_ptr<Capture> capture;
  std::shared_ptr<Event> in_replays;  // stands for it there
  std::vector<Node*> tails;
};

struct Captures {
  std::mutex mutex;
  std::map<const Stream*, std::shared_ptr<Capture>> by_stream;
  std::map<const Event*, CapturedEvent> events;
  unsigned long long next_id = 1;
  std::atomic<int> under_way{0};  // without any, a launch does not have to lock
};
Captures& captures() {
  static auto* instance = new Captures;  // used until the process has ended
  return *instance;
}

bool is_any_under_way() { return captures().under_way.load() > 0; }

thread_local cudaStreamCaptureMode mode_of_thread = cudaStreamCaptureModeGlobal;

// Needs the lock. Null: none.
std::shared_ptr<Capture> capture_of(const Stream& stream) {
  const auto found = captures().by_stream.find(&stream);
  return found == captures().by_stream.end() ? nullptr : found->second;
}

// Whether this thread's calls are held against the capture; see cudaStreamCaptureMode.
bool forbids(const Capture& capture) {
  if (mode_of_thread == cudaStreamCaptureModeRelaxed) return false;
  if (capture.thread == std::this_thread::get_id())
    return capture.mode != cudaStreamCaptureModeRelaxed;
  return mode_of_thread == cudaStreamCaptureModeGlobal &&
         capture.mode == cudaStreamCaptureModeGlobal;
}

// Breaks the captures of which a call may not be made now.
template <typename IsWrong>
cudaError_t break_where(IsWrong is_wrong) {
  if (!is_any_under_way()) return cudaSuccess;
  const std::lock_guard lock(captures().mutex);
  cudaError_t result = cudaSuccess;
  for (const auto& [stream, capture] : captures().by_stream) {
    if (!is_wrong(*stream, *capture)) continue;
    capture->is_broken = true;
    result = cudaErrorStreamCaptureUnsupported;
  }
  return result;
}

cudaError_t fault_of(const Capture& capture, const Stream& ended) {
  if (&ended != capture.origin) return cudaErrorStreamCaptureUnmatched;
  if (capture.is_broken) return cudaErrorStreamCaptureInvalidated;
  if (!leads_everywhere(*capture.graph, capture.branches.at(&ended).tails))
    return cudaErrorStreamCaptureUnjoined;
  return cudaSuccess;
}

}  // namespace

cudaError_t begin_capture(Stream& stream, cudaStreamCaptureMode mode) {
  const std::lock_guard lock(captures().mutex);
  if (capture_of(stream) != nullptr) return cudaErrorIllegalState;
  auto capture = std::make_shared<Capture>(
      Capture{captures().next_id++, create_graph(), &stream, mode, std::this_thread::get_id()});
  capture->branches[&stream] = {0, {}};
  captures().by_stream[&stream] = std::move(capture);
  ++captures().under_way;
  return cudaSuccess;
}

cudaError_t end_capture(Stream& stream, std::unique_ptr<Graph>& graph) {
  const std::lock_guard lock(captures().mutex);
  const auto capture = capture_of(stream);
  if (capture == nullptr) return cudaErrorIllegalState;
  if (capture->mode != cudaStreamCaptureModeRelaxed &&
      capture->thread != std::this_thread::get_id())
    return cudaErrorStreamCaptureWrongThread;
  const cudaError_t fault = fault_of(*capture, stream);
  if (fault == cudaErrorStreamCaptureUnmatched) return fault;
  std::erase_if(captures().by_stream, [&](const auto& each) { return each.second == capture; });
  --captures().under_way;
  if (fault == cudaSuccess) graph = std::move(capture->graph);
  return fault;
}

CaptureState capture_state(const Stream& stream) {
  if (!is_any_under_way()) return {};
  const std::lock_guard lock(captures().mutex);
  const auto capture = capture_of(stream);
  if (capture == nullptr) return {};
  return {capture->is_broken ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive,
          capture->id, capture->graph.get(), capture->branches.at(&stream).tails};
}

bool is_capturing(const Stream& stream) {
  return capture_state(stream).status == cudaStreamCaptureStatusActive;
}

void capture_work(Stream& stream, CUgraphNodeType type, const CapturedWork& work) {
  const std::lock_guard lock(captures().mutex);
  const auto capture = capture_of(stream);
  if (capture == nullptr) return;
  Branch& branch = capture->branches.at(&stream);
  Node* node = add_node(*capture->graph, type, std::exchange(branch.tails, {}));
  branch.tails = {node};
  capture->graph->parts.push_back({branch.number, node, work});
}

bool capture_record(Event& event, Stream& stream) {
  if (!is_any_under_way()) return false;
  const std::lock_guard lock(captures().mutex);
  const auto capture = capture_of(stream);
  captures().events.erase(&event);
  if (capture == nullptr) return false;
  const Branch& branch = capture->branches.at(&stream);
  const std::shared_ptr<Event> mark(create_event(), destroy_event);
  captures().events[&event] = {capture, mark, branch.tails};
  capture->graph->parts.push_back(
      {branch.number, nullptr, [mark](Stream& on, const Launched&) { record(*mark, on); }});
  return true;
}

std::optional<cudaError_t> capture_wait(Stream& stream, const Event& event) {
  if (!is_any_under_way()) return std::nullopt;
  const std::lock_guard lock(captures().mutex);
  const auto own = capture_of(stream);
  const auto found = captures().events.find(&event);
  const auto from = found == captures().events.end() ? nullptr : found->second.capture.lock();
  if (from == nullptr && own == nullptr) return std::nullopt;
  if (from == nullptr) return cudaErrorStreamCaptureIsolation;
  if (own != nullptr && own != from) return cudaErrorStreamCaptureMerge;
  captures().by_stream[&stream] = from;
  const int next = static_cast<int>(from->branches.size());
  Branch& branch = from->branches.try_emplace(&stream, Branch{next, {}}).first->second;
  const CapturedEvent& mark = found->second;
  for (Node* tail : mark.tails)
    if (std::ranges::find(branch.tails, tail) == branch.tails.end()) branch.tails.push_back(tail);
  from->graph->parts.push_back(
      {branch.number, nullptr,
       [event = mark.in_replays](Stream& on, const Launched&) { wait(on, *event); }});
  return cudaSuccess;
}

bool is_captured(const Event& event) {
  if (!is_any_under_way()) return false;
  const std::lock_guard lock(captures().mutex);
  const auto found = captures().events.find(&event);
  return found != captures().events.end() && !found->second.capture.expired();
}

void forget_captured(const Event& event) {
  const std::lock_guard lock(captures().mutex);
  captures().events.erase(&event);
}

cudaStreamCaptureMode exchange_capture_mode(cudaStreamCaptureMode mode) {
  return std::exchange(mode_of_thread, mode);
}

cudaError_t check_capture_modes() {
  return break_where([](const Stream&, const Capture& capture) { return forbids(capture); });
}

cudaError_t refuse_capturing(const Stream& stream) {
  return break_where([&](const Stream& each, const Capture&) { return &each == &stream; });
}

cudaError_t refuse_capturing_on(int device) {
  return break_where(
      [device](const Stream& each, const Capture&) { return stream_device(each) == device; });
}

}  // namespace shardlens::fake_gpu
