// Traces of fully_shard as PyTorch's profiler writes them, of a job that is made up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "tests/trace/interop/unit_traces.h"

namespace shardlens::trace::interop {

class FsdpTraceWriter : public UnitTraceWriter {
 public:
  FsdpTraceWriter(const FsdpJob& job, int rank) : UnitTraceWriter(job, rank) {}

  static std::string name(std::size_t unit) {
    return unit == 0 ? "root" : "layers." + std::to_string(unit - 1);
  }

  std::string text() {
    return text_of([&] { write_forward(); }, [&] { write_backward(); });
  }

 private:
  template <typename Body>
  void mark(const std::string& what, std::size_t unit, const Body& body) {
    annotate("FSDP::" + what + (unit == 0 ? "" : " (" + name(unit) + ")"), body);
  }
  void gather(std::size_t unit, const std::string& how) {
    if (is_gathered_[unit]) return;
    is_gathered_[unit] = true;
    mark("all_gather", unit, [&] {
      copy(unit);
      calls_.push_back(name(unit) + " " + how);
      gathered_[unit] = call("c10d::_allgather_base_", "gloo:all_gather", "AllGather",
                             job_.units[unit] / 2, job_.units[unit], gate_);
    });
  }
  void use(std::size_t unit) {
    if (gathered_[unit] == 0) return;
    mark("all_gather_copy_out", unit, [&] { copy(unit); });
    gpu_ = std::max(gpu_, gathered_[unit]);
    gathered_[unit] = 0;
    // Gathers from now on begin behind this copy, in forward behind the one before.
    const double copied = gpu_;
    gate_ = in_backward_ ? copied : copied_before_;
    copied_before_ = copied;
  }
  void reduce(std::size_t unit) {
    if (adds_) copy(unit);
    mark("post_backward_accumulate", unit, [] {});
    mark("post_backward_reshard", unit, [] {});
    if (!reduces_) return;
    mark("post_backward_reduce", unit, [&] {
      copy(unit);
      if (job_.on_gpu) gpu_ = std::max(gpu_, reduced_);  // one is scattered at a time
      calls_.push_back(name(unit) + " reduce");
      reduced_ = call("c10d::_reduce_scatter_base_", "gloo:all_reduce", "ReduceScatter",
                      job_.units[unit], job_.units[unit], gpu_);
      if (job_.pairs == 1 || !adds_up_) return;
      calls_.push_back(calls_.back());
      summed_ = call("c10d::allreduce_", "gloo:all_reduce", "AllReduce", job_.units[unit] / 2,
                     job_.units[unit] / 2, reduced_);
    });
  }
  void prefetch_behind(std::size_t unit) {
    if (!job_.prefetches_forward || unit + 1 == job_.units.size()) return;
    mark("forward_prefetch for " + name(unit + 1), 0,
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
      const bool is_kept = job_.keeps_last && unit + 1 == job_.units.size();
      if (job_.frees_after_forward && !is_kept) is_gathered_[unit] = false;
    }
    compute("aten::addmm", job_.around_us);
    mark("post_forward", 0, [] {});
  }
  void prefetch_before(std::size_t unit) {
    if (!job_.gathers_ahead || unit < 2) return;
    mark("backward_prefetch for " + name(unit - 1), 0,
         [&] { gather(unit - 1, "backward gather, prefetched"); });
  }
  void write_backward() {
    host_ += 1;
    in_backward_ = true;
    gate_ = copied_before_;
    mark("pre_backward", 0, [&] { prefetch_before(job_.units.size()); });
    node("AddmmBackward0", job_.around_us, [] {});
    for (std::size_t unit = job_.units.size(); --unit > 0;) {
      mark("pre_backward", unit, [&] {
        gather(unit, "backward gather");
        use(unit);
        prefetch_before(unit);
      });
      node("MmBackward0", job_.backward_us, [] {});
      reduce(unit);
      is_gathered_[unit] = false;
    }
    node("EmbeddingBackward0", job_.around_us, [] {});
    mark("root_post_backward_callback", 0, [&] {
      reduce(0);
      is_gathered_[0] = false;
      gpu_ = std::max({gpu_, reduced_, summed_});
    });
    host_ += 1;
  }

  std::vector<bool> is_gathered_ = std::vector<bool>(job_.units.size());
  std::vector<double> gathered_ = std::vector<double>(job_.units.size());  // when; 0: used since
  double gate_ = 0, copied_before_ = 0;
  bool in_backward_ = false;
  double reduced_ = 0, summed_ = 0;
};

}  // namespace shardlens::trace::interop
