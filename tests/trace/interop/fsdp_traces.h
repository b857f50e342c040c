// Traces of fully_shard as PyTorch's profiler writes them, of a job that is made up: how large its
// units are, what it computes in each, how long gathering and reducing them takes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/trace/interop/trace_writer.h"

namespace shardlens::trace::interop {

struct FsdpJob {
  std::vector<std::int64_t> units;  // elements of each, even; the root first
  int steps = 6, micro_batches = 1;
  bool reduces_each = false;        // every micro-batch
  bool frees_after_forward = true;  // but the root
  bool prefetches_forward = false;  // explicitly
  bool gathers_ahead = true;        // in backward
  bool on_gpu = false, has_shapes = true;
  double forward_us = 400, backward_us = 700, around_us = 150, optimizer_us = 300;
  double latency_us = 40, us_per_element = 0.002;

  std::string name(std::size_t unit) const { return "layers." + std::to_string(unit - 1); }
};

// On a CPU its host waits in every collective, as PyTorch does there. On a GPU the
// host is far ahead, and gathers and reductions are carried out in order on one stream.
class FsdpTraceWriter : public TraceWriter {
 public:
  FsdpTraceWriter(const FsdpJob& job, int rank) : TraceWriter(rank, job.on_gpu, 1000), job_(job) {}

  // The collectives of a step, in order: "layers.0 forward gather".
  const std::vector<std::string>& calls() const { return calls_; }

  std::string text() {
    for (int step = 0; step < job_.steps; ++step) {
      write_step(step, job_.optimizer_us, [&] { write_passes(); });
    }
    return text_of_rank();
  }

 private:
  template <typename Body>
  void mark(const std::string& what, std::size_t unit, const Body& body) {
    const double start = host_;
    host_ += 0.5;
    body();
    host_ += 0.5;
    const std::string of = unit == 0 ? "" : " (" + job_.name(unit) + ")";
    add("user_annotation", "FSDP::" + what + of, "77", start, host_ - start);
  }
  void node(const std::string& name, double duration) {
    const double start = host_;
    host_ += 0.2;
    compute("aten::mm", duration);
    host_ += 0.2;
    add("cpu_op", "autograd::engine::evaluate_function: " + name, "77", start, host_ - start);
  }
  // Until when it takes, of what moves `elements` in all.
  double call(const std::string& op, const std::string& gloo, const std::string& nccl,
              std::int64_t in_elements, std::int64_t elements, double earliest) {
    const double duration = job_.latency_us + job_.us_per_element * static_cast<double>(elements);
    const double start = std::max(link_, std::max(earliest, host_) + 3);
    link_ = start + duration;
    add("cpu_op", op, "77", host_, 2);
    if (!job_.on_gpu) {
      const std::string shape =
          "\"Input type\":[\"float\"],\"Input Dims\":[[" + std::to_string(in_elements) + "]]";
      add("user_annotation", gloo, calls_.size() % 2 == 0 ? "80" : "81", start, duration,
          job_.has_shapes ? shape : "");
      host_ = link_ + 2;
      return link_;
    }
    const bool gathers = nccl == "AllGather";
    launch("ncclDevKernel_" + nccl + "_RING_LL(x)", "20", start, duration,
           ",\"Collective name\":\"" +
               std::string(gathers ? "_allgather_base" : "_reduce_scatter_base") +
               "\",\"In msg nelems\":" + std::to_string(in_elements) +
               ",\"Out msg nelems\":" + std::to_string(gathers ? elements : elements / 2) +
               ",\"dtype\":\"Float\",\"Process Group Name\":\"0\"");
    return link_;
  }
  void gather(std::size_t unit, const std::string& how) {
    if (is_gathered_[unit]) return;
    is_gathered_[unit] = true;
    mark("all_gather", unit, [&] {
      calls_.push_back((unit == 0 ? "root" : job_.name(unit)) + " " + how);
      gathered_[unit] = call("c10d::_allgather_base_", "gloo:all_gather", "AllGather",
                             job_.units[unit] / 2, job_.units[unit], gate_);
    });
  }
  void use(std::size_t unit) {
    if (gathered_[unit] == 0) return;
    mark("all_gather_copy_out", unit, [] {});
    gpu_ = std::max(gpu_, gathered_[unit]);
    gathered_[unit] = 0;
    // Gathers from now on begin behind this copy, in forward behind the one before.
    const double copied = gpu_;
    gate_ = in_backward_ ? copied : copied_before_;
    copied_before_ = copied;
  }
  void reduce(std::size_t unit) {
    mark("post_backward_accumulate", unit, [] {});
    mark("post_backward_reshard", unit, [] {});
    if (!reduces_) return;
    mark("post_backward_reduce", unit, [&] {
      if (job_.on_gpu) gpu_ = std::max(gpu_, reduced_);  // one is under way at a time
      calls_.push_back((unit == 0 ? "root" : job_.name(unit)) + " reduce");
      reduced_ = call("c10d::_reduce_scatter_base_", "gloo:all_reduce", "ReduceScatter",
                      job_.units[unit], job_.units[unit], gpu_);
    });
  }
  void prefetch_behind(std::size_t unit) {
    if (!job_.prefetches_forward || unit + 1 == job_.units.size()) return;
    mark("forward_prefetch for " + job_.name(unit + 1), 0,
         [&] { gather(unit + 1, "forward gather, prefetched"); });
  }
  void write_forward() {
    in_backward_ = false;
    gate_ = copied_before_ = gpu_;  // shards have just been updated
    mark("root_pre_forward", 0, [] {});
    mark("pre_forward", 0, [&] {
      gather(0, "forward gather");
      use(0);
    });
    prefetch_behind(0);
    compute("aten::embedding", job_.around_us);
    for (std::size_t unit = 1; unit < job_.units.size(); ++unit) {
      mark("pre_forward", unit, [&] {
        gather(unit, "forward gather");
        use(unit);
      });
      prefetch_behind(unit);
      compute("aten::linear", job_.forward_us);
      mark("post_forward", unit, [] {});
      if (job_.frees_after_forward) is_gathered_[unit] = false;
    }
    compute("aten::addmm", job_.around_us);
    mark("post_forward", 0, [] {});
  }
  void prefetch_before(std::size_t unit) {
    if (!job_.gathers_ahead || unit < 2) return;
    mark("backward_prefetch for " + job_.name(unit - 1), 0,
         [&] { gather(unit - 1, "backward gather, prefetched"); });
  }
  void write_backward() {
    host_ += 1;
    in_backward_ = true;
    gate_ = copied_before_;
    mark("pre_backward", 0, [&] { prefetch_before(job_.units.size()); });
    node("AddmmBackward0", job_.around_us);
    for (std::size_t unit = job_.units.size(); --unit > 0;) {
      mark("pre_backward", unit, [&] {
        gather(unit, "backward gather");
        use(unit);
        prefetch_before(unit);
      });
      node("MmBackward0", job_.backward_us);
      reduce(unit);
      is_gathered_[unit] = false;
    }
    node("EmbeddingBackward0", job_.around_us);
    mark("root_post_backward_callback", 0, [&] {
      reduce(0);
      is_gathered_[0] = false;
      gpu_ = std::max(gpu_, reduced_);
    });
    host_ += 1;
  }
  void write_passes() {
    calls_.clear();
    for (int i = 0; i < job_.micro_batches; ++i) {
      reduces_ = job_.reduces_each || i + 1 == job_.micro_batches;
      write_forward();
      write_backward();
    }
  }

  const FsdpJob& job_;
  std::vector<bool> is_gathered_ = std::vector<bool>(job_.units.size());
  std::vector<double> gathered_ = std::vector<double>(job_.units.size());  // when; 0: used since
  double gate_ = 0, copied_before_ = 0;
  bool in_backward_ = false;
  std::vector<std::string> calls_;
  bool reduces_ = true;
  double link_ = 0, reduced_ = 0;
};

}  // namespace shardlens::trace::interop
