// Traces of DDP as PyTorch's profiler writes them, of a job that is made up: what it computes, how
// large its gradients are, which buckets it reduces, and how long that takes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/trace/interop/kineto_traces.h"

namespace shardlens::trace::interop {

struct DdpJob {
  std::vector<std::int64_t> gradients;  // elements, in the order in which they come
  std::vector<std::size_t> buckets;     // how many of them each holds
  int steps = 6, micro_batches = 1;
  bool reduces_each = false;  // every micro-batch
  bool on_gpu = false, has_shapes = true, marks_phases = false;
  std::string type = "float", reduced_type = "float";  // as C++ calls them
  double gradient_us = 200, forward_us = 500, optimizer_us = 300;
  double latency_us = 40, us_per_element = 0.002;
  double ahead_us = 0;             // rank 1's clock
  std::int64_t more_elements = 0;  // in each all-reduce: of nothing that is a gradient

  std::int64_t elements_of(std::size_t bucket) const {
    std::size_t first = 0;
    for (std::size_t i = 0; i < bucket; ++i) first += buckets[i];
    std::int64_t sum = more_elements;
    for (std::size_t g = first; g < first + buckets[bucket]; ++g) sum += gradients[g];
    return sum;
  }
};

// One rank of two.
class DdpTraceWriter {
 public:
  DdpTraceWriter(const DdpJob& job, int rank)
      : job_(job), rank_(rank), host_(1000 + (rank == 1 ? job.ahead_us : 0)) {}

  // Microseconds of the last step, from its begin to its end.
  double step_us() const { return step_us_; }

  std::string text() {
    for (int step = 0; step < job_.steps; ++step) write_step(step);
    const std::string backend = job_.on_gpu ? "nccl" : "gloo";
    return trace_of(events_, "\"backend\":\"" + backend + "\",\"rank\":" + std::to_string(rank_) +
                                 ",\"world_size\":2,\"pg_config\":[{\"pg_name\":\"0\",\"pg_desc\":"
                                 "\"default_pg\",\"ranks\":[0,1]}]");
  }

 private:
  static constexpr double kHostUs = 4;  // what a GPU's host needs for what its kernels compute

  std::string shape(std::int64_t elements, const std::string& type) const {
    if (!job_.has_shapes) return "";
    return "\"Input type\":[\"" + type + "\"],\"Input Dims\":[[" + std::to_string(elements) + "]]";
  }
  void add(const std::string& category, const std::string& name, const std::string& thread,
           double start, double duration, const std::string& arguments = "") {
    events_.push_back(complete(category, name, thread, start, duration, arguments));
  }
  // On the host, or launched by it on the GPU's stream, behind what that has to do.
  void compute(const std::string& name, double duration) {
    if (!job_.on_gpu) {
      add("cpu_op", name, "77", host_, duration);
      host_ += duration;
      return;
    }
    const double start = std::max(gpu_, host_ + kHostUs);
    launch("kernel_" + name, "7", start, duration, "");
    gpu_ = start + duration;
  }
  void launch(const std::string& name, const std::string& stream, double start, double duration,
              const std::string& more) {
    const std::string correlation = "\"correlation\":" + std::to_string(++correlation_);
    add("cuda_runtime", "cudaLaunchKernel", "77", host_, 1, correlation);
    host_ += kHostUs;
    add("kernel", name, stream, start, duration,
        "\"device\":0,\"stream\":" + stream + "," + correlation + more);
  }
  void reduce(std::size_t bucket) {
    const std::int64_t elements = job_.elements_of(bucket);
    const double duration = job_.latency_us + job_.us_per_element * static_cast<double>(elements);
    const double start = std::max(reduced_, (job_.on_gpu ? gpu_ : host_) + 3);
    reduced_ = start + duration;
    const std::string dims = job_.has_shapes
                                 ? "\"Input type\":[\"TensorList\",\"\"],\"Input Dims\":[[[" +
                                       std::to_string(elements) + "]],[],[]]"
                                 : "";
    add("cpu_op", "c10d::allreduce_", "77", host_, 2, dims);
    if (!job_.on_gpu) {
      return add("user_annotation", "gloo:all_reduce", bucket % 2 == 0 ? "80" : "81", start,
                 duration, shape(elements, job_.reduced_type));
    }
    const std::string count = std::to_string(elements);
    const std::string c10 = job_.reduced_type == "float" ? "Float" : job_.reduced_type.substr(5);
    launch("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "20", start, duration,
           ",\"Collective name\":\"allreduce\",\"In msg nelems\":" + count +
               ",\"Out msg nelems\":" + count + ",\"dtype\":\"" + c10 +
               "\",\"Process Group Name\":\"0\"");
  }
  void write_backward(bool reduces) {
    const std::string node = "autograd::engine::evaluate_function: ";
    const double begin = host_;
    std::size_t bucket = 0, held = 0;
    for (const std::int64_t elements : job_.gradients) {
      const double start = host_;
      host_ += 0.5;
      compute("aten::mm", job_.gradient_us);
      host_ += 0.5;
      add("cpu_op", node + "MmBackward0", "77", start, host_ - start);
      const double accumulates = host_;
      host_ += 1;
      add("cpu_op", "torch::autograd::AccumulateGrad", "77", accumulates + 0.5, 0.2,
          shape(elements, job_.type));
      if (reduces && ++held == job_.buckets[bucket]) {
        reduce(bucket++);
        held = 0;
      }
      host_ += 1;
      add("cpu_op", node + "torch::autograd::AccumulateGrad", "77", accumulates,
          host_ - accumulates);
    }
    (job_.on_gpu ? gpu_ : host_) = std::max(job_.on_gpu ? gpu_ : host_, reduced_);
    if (job_.marks_phases)
      add("user_annotation", "## backward ##", "77", begin - 0.1, host_ - begin);
    host_ += 5;
  }
  void write_step(int step) {
    const double begin = job_.on_gpu ? std::max(host_, gpu_) : host_;
    host_ = begin + 5;
    for (int i = 0; i < job_.micro_batches; ++i) {
      const double start = host_;
      compute("aten::linear", job_.forward_us);
      add("user_annotation", "DistributedDataParallel.forward", "77", start - 1, host_ - start + 2);
      host_ += 5;
      write_backward(job_.reduces_each || i + 1 == job_.micro_batches);
    }
    const double optimizer = host_;
    compute("aten::_fused_adamw_", job_.optimizer_us);
    add("user_annotation", "Optimizer.step#AdamW.step", "77", optimizer - 1, host_ - optimizer + 2);
    host_ += 5;
    const double end = job_.on_gpu ? std::max(host_, gpu_) : host_;
    add("user_annotation", "ProfilerStep#" + std::to_string(step + 3), "77", begin, end - begin);
    step_us_ = end - begin;
    host_ = end;
  }

  const DdpJob& job_;
  int rank_ = 0;
  std::vector<std::string> events_;
  double host_ = 0, gpu_ = 0, reduced_ = 0, step_us_ = 0;
  std::uint64_t correlation_ = 0;
};

}  // namespace shardlens::trace::interop
