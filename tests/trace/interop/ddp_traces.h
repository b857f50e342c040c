// Traces of DDP as PyTorch's profiler writes them, of a job that is made up: what it computes, how
// large its gradients are, which buckets it reduces, and how long that takes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/trace/interop/trace_writer.h"

namespace shardlens::trace::interop {

// What tells of a GPU's reductions: their kernels, as of PyTorch 2.2 and newer on NVIDIA's GPUs;
// what c10d records of its calls, as on AMD's; or no more than the mark and the shapes of c10d's
// operator.
enum class ToldBy { kKernel, kRecord, kOperator };

struct DdpJob {
  std::vector<std::int64_t> gradients;  // elements, in the order in which they come
  std::vector<std::size_t> buckets;     // how many of them each holds
  int steps = 6, micro_batches = 1;
  bool reduces_each = false;  // every micro-batch
  bool on_gpu = false, has_shapes = true, marks_phases = false;
  ToldBy told_by = ToldBy::kKernel;
  int pairs = 1;                                       // of ranks: TraceWriter's mesh
  std::string group = "0";                             // in which a GPU reduces
  bool looks_for_unused = false;                       // and sums up which parameters were used
  std::string type = "float", reduced_type = "float";  // as C++ calls them
  double gradient_us = 200, forward_us = 500, optimizer_us = 300;
  double latency_us = 40, us_per_element = 0.002;
  double ahead_us = 0;             // rank 1's clock
  double noted_late_us = 0;        // ends of Gloo's collectives: the host has gone on before
  std::int64_t more_elements = 0;  // in each all-reduce: of nothing that is a gradient

  std::int64_t elements_of(std::size_t bucket) const {
    std::size_t first = 0;
    for (std::size_t i = 0; i < bucket; ++i) first += buckets[i];
    std::int64_t sum = more_elements;
    for (std::size_t g = first; g < first + buckets[bucket]; ++g) sum += gradients[g];
    return sum;
  }
};

class DdpTraceWriter : public TraceWriter {
 public:
  DdpTraceWriter(const DdpJob& job, int rank)
      : TraceWriter(rank, job.on_gpu, 1000 + (rank == 1 ? job.ahead_us : 0)), job_(job) {}

  std::string text() {
    for (int step = 0; step < job_.steps; ++step) {
      write_step(step, job_.optimizer_us, [&] { write_passes(); });
    }
    return text_of_rank(job_.pairs);
  }

 private:
  std::string shape(std::int64_t elements, const std::string& type) const {
    if (!job_.has_shapes) return "";
    return "\"Input type\":[\"" + type + "\"],\"Input Dims\":[[" + std::to_string(elements) + "]]";
  }
  void reduce(std::size_t bucket) {
    all_reduce(job_.elements_of(bucket), job_.reduced_type, bucket % 2 == 0 ? "80" : "81");
    const bool is_last = bucket + 1 == job_.buckets.size();
    if (is_last && job_.looks_for_unused) all_reduce(std::ssize(job_.gradients), "int", "80");
  }
  void all_reduce(std::int64_t elements, const std::string& type, const std::string& thread) {
    const double duration = job_.latency_us + job_.us_per_element * static_cast<double>(elements);
    const double start = std::max(reduced_, (job_.on_gpu ? gpu_ : host_) + 3);
    reduced_ = start + duration;
    const std::string dims = job_.has_shapes
                                 ? "\"Input type\":[\"TensorList\",\"\"],\"Input Dims\":[[[" +
                                       std::to_string(elements) + "]],[],[]]"
                                 : "";
    add("cpu_op", "c10d::allreduce_", "77", host_, 2, dims);
    if (!job_.on_gpu) {
      return add("user_annotation", "gloo:all_reduce", thread, start, duration + job_.noted_late_us,
                 shape(elements, type));
    }
    const std::string count = std::to_string(elements);
    const std::string c10 = type == "float" ? "Float" : type == "int" ? "Int" : type.substr(5);
    const std::string told = "\"Collective name\":\"allreduce\",\"In msg nelems\":" + count +
                             ",\"Out msg nelems\":" + count + ",\"dtype\":\"" + c10 +
                             "\",\"Process Group Name\":\"" + job_.group + "\"";
    const bool by_kernel = job_.told_by == ToldBy::kKernel;
    const bool by_record = job_.told_by == ToldBy::kRecord;
    if (!by_kernel) {
      add("cpu_op", "record_param_comms", "77", host_, 1.6, by_record ? told : "");
      add("user_annotation", "nccl:all_reduce", "77", host_, 1.4);
    }
    launch(by_kernel   ? "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)"
           : by_record ? "ncclDevKernel_Generic_4(x)"
                       : "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(x)",
           "20", start, duration, by_kernel ? "," + told : "");
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
  void write_passes() {
    for (int i = 0; i < job_.micro_batches; ++i) {
      const double start = host_;
      compute("aten::linear", job_.forward_us);
      add("user_annotation", "DistributedDataParallel.forward", "77", start - 1, host_ - start + 2);
      host_ += 5;
      write_backward(job_.reduces_each || i + 1 == job_.micro_batches);
    }
  }

  const DdpJob& job_;
  double reduced_ = 0;
};

}  // namespace shardlens::trace::interop
