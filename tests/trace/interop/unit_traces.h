// What traces of made-up jobs with units have in common: how large units are, what is computed in
// each, how long gathering and reducing them takes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/trace/interop/trace_writer.h"

namespace shardlens::trace::interop {

struct FsdpJob {
  std::vector<std::int64_t> units;  // elements of each, even; the root first
  int steps = 6, micro_batches = 1;
  bool reduces_each = false;              // every micro-batch
  bool adds_up_seldom = false;            // across pairs, in the last micro-batch alone
  bool frees_after_forward = true;        // but the root
  bool keeps_last = false;                // nor the last unit, as torchtitan: fully_shard's
  bool prefetches_forward = false;        // explicitly
  bool gathers_ahead = true;              // in backward
  bool gathers_behind_gradients = false;  // there, but no earlier: as only FSDP1 may
  bool shards = true;                     // not so: as NO_SHARD of FSDP1, on a CPU
  int pairs = 1;  // of ranks, each of which holds all shards; of several, sums are added up
  bool on_gpu = false, has_shapes = true;
  double forward_us = 400, backward_us = 700, around_us = 150, optimizer_us = 300;
  double latency_us = 40, us_per_element = 0.002;
  // What the host of a CPU copies into and out of what is gathered, and into what is reduced:
  // fully_shard's. `adds_as_it_copies`: and as long what micro-batches left is added to.
  double copy_us_per_element = 0;
  bool adds_as_it_copies = false;
};

// On a CPU its host waits in every collective, as PyTorch does there. On a GPU the host is far
// ahead, and gathers and reductions are carried out in order on one stream.
class UnitTraceWriter : public TraceWriter {
 public:
  // The collectives of a step, in order: "layers.0 forward gather".
  const std::vector<std::string>& calls() const { return calls_; }

 protected:
  UnitTraceWriter(const FsdpJob& job, int rank) : TraceWriter(rank, job.on_gpu, 1000), job_(job) {}

  // `forward` and `backward` write one pass.
  template <typename Forward, typename Backward>
  std::string text_of(const Forward& forward, const Backward& backward) {
    for (int step = 0; step < job_.steps; ++step) {
      write_step(step, job_.optimizer_us, [&] {
        calls_.clear();
        for (int i = 0; i < job_.micro_batches; ++i) {
          reduces_ = job_.reduces_each || i + 1 == job_.micro_batches;
          adds_ = job_.adds_as_it_copies && i > 0 && !job_.reduces_each;
          adds_up_ = !job_.adds_up_seldom || i + 1 == job_.micro_batches;
          forward();
          backward();
        }
      });
    }
    return text_of_rank(job_.pairs);
  }
  template <typename Body>
  void annotate(const std::string& name, const Body& body) {
    const double start = host_;
    host_ += 0.5;
    body();
    host_ += 0.5;
    add("user_annotation", name, "77", start, host_ - start);
  }
  // Of autograd; `hook` comes before it.
  template <typename Body>
  void node(const std::string& name, double duration, const Body& hook) {
    const double start = host_;
    host_ += 0.2;
    hook();
    if (duration > 0) compute("aten::mm", duration);
    host_ += 0.2;
    add("cpu_op", "autograd::engine::evaluate_function: " + name, "77", start, host_ - start);
  }
  void copy(std::size_t unit) {
    const double duration = job_.copy_us_per_element * static_cast<double>(job_.units[unit]);
    if (!job_.on_gpu && duration > 0) compute("aten::copy_", duration);
  }
  // Until when it takes, of what moves `elements` in all.
  double call(const std::string& op, const std::string& gloo, const std::string& nccl,
              std::int64_t in_elements, std::int64_t elements, double earliest) {
    const double duration = job_.latency_us + job_.us_per_element * static_cast<double>(elements);
    // Sums over pairs have a stream of their own.
    const bool sums = job_.on_gpu && job_.pairs > 1 && nccl == "AllReduce";
    double& link = sums ? link_of_sums_ : link_;
    const double start = std::max(link, std::max(earliest, host_) + 3);
    link = start + duration;
    const bool gathers = nccl == "AllGather", scatters = nccl == "ReduceScatter";
    const std::int64_t out_elements = scatters ? elements / 2 : elements;
    const std::string in_list = std::to_string(in_elements),
                      out_list = std::to_string(out_elements);
    add("cpu_op", op, "77", host_, 2,
        job_.has_shapes && (gathers || scatters)
            ? "\"Input Dims\":[[" + out_list + "],[" + in_list + "],[]]"
            : "");
    if (!job_.on_gpu) {
      const std::string shape = "\"Input type\":[\"float\"],\"Input Dims\":[[" + in_list + "]]";
      add("user_annotation", gloo, calls_.size() % 2 == 0 ? "80" : "81", start, duration,
          job_.has_shapes ? shape : "");
      host_ = link + 2;
      return link;
    }
    const std::string group = job_.pairs == 1 ? "0" : gathers || scatters ? "2" : "1";
    launch("ncclDevKernel_" + nccl + "_RING_LL(x)", sums ? "21" : "20", start, duration,
           ",\"Collective name\":\"" +
               std::string(gathers    ? "_allgather_base"
                           : scatters ? "_reduce_scatter_base"
                                      : "allreduce") +
               "\",\"In msg nelems\":" + in_list + ",\"Out msg nelems\":" + out_list +
               ",\"dtype\":\"Float\",\"Process Group Name\":\"" + group + "\"");
    return link;
  }

  const FsdpJob& job_;
  bool adds_up_ = true;
  bool reduces_ = true;  // the micro-batch
  bool adds_ = false;    // to gradients of those before
  std::vector<std::string> calls_;
  double link_ = 0, link_of_sums_ = 0;  // until when they are busy
};

}  // namespace shardlens::trace::interop
