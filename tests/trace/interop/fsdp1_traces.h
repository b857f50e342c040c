// Traces of FullyShardedDataParallel as PyTorch's profiler writes them, of a job that is made up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "tests/trace/interop/unit_traces.h"

namespace shardlens::trace::interop {

// Each of its units is a wrapped module, one behind the other within the root.
class Fsdp1TraceWriter : public UnitTraceWriter {
 public:
  Fsdp1TraceWriter(const FsdpJob& job, int rank) : UnitTraceWriter(job, rank) {}

  static std::string name(std::size_t unit) {
    return unit == 0 ? "root" : "module " + std::to_string(unit);
  }
  std::string text() {
    return text_of([&] { write_forward(); }, [&] { write_backward(); });
  }

 private:
  template <typename Body>
  void mark(const std::string& what, const Body& body) {
    annotate("FullyShardedDataParallel." + what, body);
  }
  std::size_t units() const { return job_.units.size(); }

  void gather(std::size_t unit, const std::string& how) {
    if (is_gathered_[unit] || !job_.shards) return;
    is_gathered_[unit] = true;
    calls_.push_back(name(unit) + " " + how);
    gathered_[unit] = call("c10d::allgather_", "gloo:all_gather", "AllGather", job_.units[unit] / 2,
                           job_.units[unit], gate_);
  }
  void use(std::size_t unit) { gpu_ = std::max(gpu_, gathered_[unit]); }
  // Memory is gathered into again when it is no longer used; in forward there is some to spare.
  void free(std::size_t unit, bool in_forward) {
    is_gathered_[unit] = false;
    const bool is_spare = in_forward && !job_.prefetches_forward && unit + 1 < units();
    gate_ = is_spare ? freed_ : gpu_;
    freed_ = gpu_;
  }

  template <typename Body>
  void forward(std::size_t unit, const Body& body) {
    mark("forward", [&] {
      mark("_root_pre_forward", [&] {
        if (unit == 0) mark("_to_kwargs", [] {});
      });
      mark("_pre_forward", [&] {
        gather(unit, "forward gather");
        use(unit);
        mark("_pre_forward_prefetch", [&] {
          const bool is_last = unit + 1 == units();
          if (job_.prefetches_forward && !is_last) gather(unit + 1, "forward gather, prefetched");
        });
      });
      body();
      mark("_post_forward", [] {});
      if (unit > 0 && job_.frees_after_forward) free(unit, true);
    });
  }
  void write_forward() {
    gate_ = freed_ = gpu_;  // shards have just been updated
    forward(0, [&] {
      compute("aten::embedding", job_.around_us);
      for (std::size_t unit = 1; unit < units(); ++unit) {
        forward(unit, [&] { compute("aten::linear", job_.forward_us); });
      }
      compute("aten::addmm", job_.around_us);
    });
  }

  void enter_backward(std::size_t unit) {
    mark("_pre_backward_hook", [&] {
      if (unit < units()) {
        gather(unit, "backward gather");
        use(unit);
        is_awaited_[unit] = false;
      }
      mark("_pre_backward_prefetch", [&] {
        if (job_.gathers_ahead && !job_.gathers_behind_gradients) gather_ahead_of(unit);
      });
    });
  }
  void gather_ahead_of(std::size_t unit) {
    if (unit < 2 || !is_awaited_[unit - 1]) return;
    gather(unit - 1, "backward gather, prefetched");
  }
  void leave_backward(std::size_t unit) {
    if (unit >= units()) return;
    const std::string gradient = "torch::autograd::AccumulateGrad";
    node(gradient, 0, [&] {
      add("cpu_op", gradient, "77", host_, 0.1,
          "\"Input type\":[\"float\"],\"Input Dims\":[[" + std::to_string(job_.units[unit] - 1) +
              "]]");
      host_ += 0.2;
      mark("_post_backward_hook", [&] {
        mark("_post_backward_prefetch", [&] {
          if (job_.gathers_ahead && job_.gathers_behind_gradients) gather_ahead_of(unit);
        });
        const bool frees = reduces_ || job_.frees_after_forward;
        if (frees) free(unit, false);
        if (reduces_) reduce(unit);
      });
    });
  }
  void reduce(std::size_t unit) {
    calls_.push_back(name(unit) + " reduce");
    reduced_ = job_.shards ? call("c10d::_reduce_scatter_base_", "gloo:all_reduce", "ReduceScatter",
                                  job_.units[unit], job_.units[unit], gpu_)
                           : call("c10d::allreduce_", "gloo:all_reduce", "AllReduce",
                                  job_.units[unit], job_.units[unit], gpu_);
  }
  // Views of parameters that were gathered ahead in forward are older than the forward before them:
  // autograd comes to them later.
  void write_backward() {
    host_ += 1;
    gate_ = std::max(gate_, freed_);
    is_awaited_.assign(units(), true);
    node("AddmmBackward0", job_.around_us, [&] { enter_backward(units()); });
    const std::size_t later = job_.prefetches_forward ? 1 : 0;
    for (std::size_t unit = units(); --unit > 0;) {
      node("MmBackward0", job_.backward_us, [&] { enter_backward(unit); });
      leave_backward(unit + later);
    }
    node("EmbeddingBackward0", job_.around_us, [] {});
    if (later > 0) leave_backward(1);
    leave_backward(0);
    gpu_ = std::max(gpu_, reduced_);
    host_ += 1;
  }

  std::vector<bool> is_gathered_ = std::vector<bool>(units());
  std::vector<bool> is_awaited_ = std::vector<bool>(units());  // in backward
  std::vector<double> gathered_ = std::vector<double>(units());
  double gate_ = 0, freed_ = 0;
  double reduced_ = 0;
};

}  // namespace shardlens::trace::interop
