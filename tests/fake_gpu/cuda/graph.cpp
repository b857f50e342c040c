#include "tests/fake_gpu/cuda/graph.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "tests/fake_gpu/cupti/cupti_callbacks.h"

namespace shardlens::fake_gpu {
namespace {

// Shared by all graphs and never destroyed, as an executable graph may be before its work is done.
Stream& stream_of_branch(int device, int branch) {
  static std::mutex mutex;
  static std::map<std::pair<int, int>, Stream*> streams;
  const std::lock_guard lock(mutex);
  Stream*& stream = streams[{device, branch}];
  if (stream == nullptr) stream = create_stream(device, 0);
  return *stream;
}

Node* append_node(Graph& graph, CUgraphNodeType type) {
  const std::uint64_t id = std::uint64_t{graph.id} << 32 | (graph.nodes.size() + 1);
  return graph.nodes.emplace_back(std::make_unique<Node>(Node{id, type, {}})).get();
}

}  // namespace

std::unique_ptr<Graph> create_graph() {
  static std::atomic<std::uint32_t> ids{1};
  return std::make_unique<Graph>(Graph{ids++, {}, {}});
}

void destroy_graph(std::unique_ptr<Graph> graph) {
  for (const auto& node : graph->nodes)
    tell_of_node(CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING, *graph, *node);
}

Node* add_node(Graph& graph, CUgraphNodeType type, std::vector<Node*> dependencies) {
  Node* node = append_node(graph, type);
  node->dependencies = std::move(dependencies);
  tell_of_node(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, graph, *node);
  return node;
}

std::unique_ptr<Graph> instantiate(const Graph& graph) {
  auto executable = create_graph();
  std::map<const Node*, Node*> clones{{nullptr, nullptr}};
  for (const auto& original : graph.nodes) {
    Node* clone = append_node(*executable, original->type);
    clones[original.get()] = clone;
    tell_of_node(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, *executable, *clone);
    tell_of_node(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, *executable, *clone, &graph, original.get());
  }
  for (const Graph::Part& part : graph.parts)
    executable->parts.push_back({part.branch, clones[part.node], part.work});
  return executable;
}

bool update(Graph& executable, const Graph& graph) {
  const auto are_alike = [](const Graph::Part& first, const Graph::Part& second) {
    return first.branch == second.branch && (first.node == nullptr) == (second.node == nullptr);
  };
  if (!std::ranges::equal(executable.parts, graph.parts, are_alike)) return false;
  for (std::size_t i = 0; i < graph.parts.size(); ++i)
    executable.parts[i].work = graph.parts[i].work;
  return true;
}

void replay(const Graph& executable, Stream& stream, std::uint32_t correlation) {
  for (const Graph::Part& part : executable.parts) {
    Stream& target =
        part.branch == 0 ? stream : stream_of_branch(stream_device(stream), part.branch);
    part.work(target, {correlation, part.node == nullptr ? 0 : part.node->id});
  }
}

}  // namespace shardlens::fake_gpu
