// What traces of made-up jobs have in common, as PyTorch's profiler writes them: a host that
// computes or keeps a GPU's stream busy, and steps that end with an optimizer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/trace/interop/trace_text.h"

namespace shardlens::trace::interop {

// One rank of two, or of several times two. Times in microseconds.
class TraceWriter {
 public:
  double step_us() const { return step_us_; }  // of the last one

 protected:
  TraceWriter(int rank, bool on_gpu, double begin_us)
      : rank_(rank), on_gpu_(on_gpu), host_(begin_us) {}

  static constexpr double kHostUs = 4;  // what a GPU's host needs for what its kernels compute

  void add(const std::string& category, const std::string& name, const std::string& thread,
           double start, double duration, const std::string& arguments = "") {
    events_.push_back(complete(category, name, thread, start, duration, arguments));
  }
  void launch(const std::string& name, const std::string& stream, double start, double duration,
              const std::string& more) {
    const std::string correlation = "\"correlation\":" + std::to_string(++correlation_);
    add("cuda_runtime", "cudaLaunchKernel", "77", host_, 1, correlation);
    host_ += kHostUs;
    add("kernel", name, stream, start, duration,
        "\"device\":0,\"stream\":" + stream + "," + correlation + more);
  }
  // On the host, or launched by it on the GPU's stream, behind what that has to do.
  void compute(const std::string& name, double duration) {
    if (!on_gpu_) {
      add("cpu_op", name, "77", host_, duration);
      host_ += duration;
      return;
    }
    gpu_ = std::max(gpu_, host_ + kHostUs);
    launch("kernel_" + name, "7", gpu_, duration, "");
    gpu_ += duration;
  }
  // `body` writes forward and backward.
  template <typename Body>
  void write_step(int step, double optimizer_us, const Body& body) {
    const double begin = on_gpu_ ? std::max(host_, gpu_) : host_;
    host_ = begin + 5;
    body();
    const double optimizer = host_;
    compute("aten::_fused_adamw_", optimizer_us);
    add("user_annotation", "Optimizer.step#AdamW.step", "77", optimizer - 1, host_ - optimizer + 2);
    host_ += 5;
    const double end = on_gpu_ ? std::max(host_, gpu_) : host_;
    add("user_annotation", "ProfilerStep#" + std::to_string(step + 3), "77", begin, end - begin);
    step_us_ = end - begin;
    host_ = end;
  }
  // A mesh of pairs of ranks, `pairs` × 2; one pair is all there is.
  std::string text_of_rank(int pairs = 1) const {
    std::vector<int> all, replicas;
    for (int rank = 0; rank < 2 * pairs; ++rank) {
      all.push_back(rank);
      if (rank % 2 == rank_ % 2) replicas.push_back(rank);
    }
    const int first = rank_ - rank_ % 2;
    std::string groups = group("0", "default_pg", all);
    if (pairs > 1) {
      groups += "," + group("1", "mesh_replicate", replicas) + "," +
                group("2", "mesh_shard", {first, first + 1});
    }
    const std::string backend = on_gpu_ ? "nccl" : "gloo";
    return trace_of(events_, "\"backend\":\"" + backend + "\",\"rank\":" + std::to_string(rank_) +
                                 ",\"world_size\":" + std::to_string(2 * pairs) +
                                 ",\"pg_config\":[" + groups + "]");
  }

  int rank_ = 0;
  bool on_gpu_ = false;
  double host_ = 0, gpu_ = 0;  // when they are free

 private:
  static std::string group(const std::string& name, const std::string& description,
                           const std::vector<int>& ranks) {
    std::string list;
    for (const int rank : ranks) list += (list.empty() ? "" : ",") + std::to_string(rank);
    return "{\"pg_name\":\"" + name + "\",\"pg_desc\":\"" + description + "\",\"ranks\":[" + list +
           "]}";
  }

  std::vector<std::string> events_;
  double step_us_ = 0;
  std::uint64_t correlation_ = 0;
};

}  // namespace shardlens::trace::interop
