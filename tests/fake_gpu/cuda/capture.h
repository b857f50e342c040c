// Streams that take in what they are given, as graphs, instead of doing it. Any thread.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <optional>

#include "tests/fake_gpu/cuda/graph.h"

namespace shardlens::fake_gpu {

cudaError_t begin_capture(Stream& stream, cudaStreamCaptureMode mode);
// Gives the graph, or none and what went wrong.
cudaError_t end_capture(Stream& stream, std::unique_ptr<Graph>& graph);

struct CaptureState {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  const Graph* graph = nullptr;
  std::vector<Node*> dependencies;  // of the next node in this stream
};
CaptureState capture_state(const Stream& stream);
bool is_capturing(const Stream& stream);

// Of a stream that is captured, however far that went well.
void capture_work(Stream& stream, CUgraphNodeType type, const CapturedWork& work);
// Marks the stream's place; false: it captures nothing.
bool capture_record(Event& event, Stream& stream);
// The stream waits for a place in a graph and, from then on, captures into it, too. None: neither
// captures.
std::optional<cudaError_t> capture_wait(Stream& stream, const Event& event);
bool is_captured(const Event& event);
void forget_captured(const Event& event);

// The calling thread's mode; gives the one before.
cudaStreamCaptureMode exchange_capture_mode(cudaStreamCaptureMode mode);
// Of a call that may be unsafe during a capture (it allocates, or asks how far the GPU is): whether
// the modes of the captures and of this thread let it be. If not, it breaks what is captured.
cudaError_t check_capture_modes();
// Of a call that waits for a stream or a whole device, or asks how far it is, in any mode.
cudaError_t refuse_capturing(const Stream& stream);
cudaError_t refuse_capturing_on(int device);

}  // namespace shardlens::fake_gpu
