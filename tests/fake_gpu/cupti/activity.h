// Work of the made-up GPU as CUPTI tells of it: what is launched here takes its place in the
// timeline, or in a graph if its stream is captured. Whenever it is done it becomes a record, once
// its times are known, where recording is on. Any thread.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "tests/fake_gpu/cuda/graph.h"
#include "tests/fake_gpu/cuda/timeline.h"

namespace shardlens::fake_gpu {

// How long work takes: rough figures of an H100, so that pictures have its proportions. They prove
// nothing about time.
std::int64_t elementwise_ns(std::int64_t threads);
std::int64_t matrix_product_ns(double operations);
std::int64_t transfer_ns(std::int64_t bytes, double bytes_per_ns);

struct Kernel {
  // One run of a collective.
  struct Entered {
    std::shared_ptr<Gate> gate;    // its other ranks
    std::function<void()> effect;  // may be null
  };

  const char* name;  // must stay
  std::int64_t duration_ns = 0;
  std::function<void()> effect = nullptr;    // what it does when its time has come
  std::function<Entered()> enter = nullptr;  // of a collective: called for each run, instead
};

void launch_kernel(Stream& stream, Kernel kernel);
void launch_copy(Stream& stream, std::int64_t bytes, CUpti_ActivityMemcpyKind kind,
                 std::function<void()> effect);
void launch_set(Stream& stream, std::int64_t bytes, std::function<void()> effect);
// A function of the host, called when its time has come.
void launch_host(Stream& stream, std::function<void()> function);
void launch_graph(const Graph& executable, Stream& stream);
// The calling thread waited for a stream or, with null, for something else.
void note_wait(CUpti_ActivitySynchronizationType type, const Stream* stream, Span span);

}  // namespace shardlens::fake_gpu
