// CUDA graphs: work that was captured instead of done, and its replays. A graph is built by one
// thread at a time; whole ones may be replayed by any.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tests/fake_gpu/cuda/timeline.h"

namespace shardlens::fake_gpu {

// Which call made the GPU do something.
struct Launched {
  std::uint32_t correlation;
  std::uint64_t graph_node = 0;  // 0: no graph
};

// Puts work into a stream, once for each time that it is done.
using CapturedWork = std::function<void(Stream& stream, const Launched& launched)>;

struct Node {
  std::uint64_t id;  // its graph's in the upper half, as CUPTI has it
  CUgraphNodeType type;
  std::vector<Node*> dependencies;
};

struct Graph {
  // What follows what: of each stream that was captured, a branch.
  struct Part {
    int branch;
    Node* node;  // null: a branch marks its place or waits for another's
    CapturedWork work;
  };

  std::uint32_t id;
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<Part> parts;
};

std::unique_ptr<Graph> create_graph();
void destroy_graph(std::unique_ptr<Graph> graph);
Node* add_node(Graph& graph, CUgraphNodeType type, std::vector<Node*> dependencies);
// An executable one: the same work, nodes of its own.
std::unique_ptr<Graph> instantiate(const Graph& graph);
// Gives an executable one the work of a graph of the same shape; false: its shape is another.
bool update(Graph& executable, const Graph& graph);
// The first branch in `stream`, the others beside it, as captured.
void replay(const Graph& executable, Stream& stream, std::uint32_t correlation);

}  // namespace shardlens::fake_gpu
