#include "bench/fuzz/kineto_samples.h"

#include <span>
#include <string_view>

namespace shardlens::bench {
namespace {

std::string event(const std::string& category, const std::string& name, int thread, double start_us,
                  double duration_us, const std::string& arguments = "") {
  const bool is_device = category == "kernel" || category == "gpu_memcpy";
  return "{\"ph\":\"X\",\"cat\":\"" + category + "\",\"name\":\"" + name +
         "\",\"pid\":" + (is_device ? "0" : "77") + ",\"tid\":" + std::to_string(thread) +
         ",\"ts\":" + std::to_string(start_us) + ",\"dur\":" + std::to_string(duration_us) +
         ",\"args\":{" + arguments + "}}";
}

std::string shaped(const std::string& dims) {
  return "\"Input Dims\":[" + dims + "],\"Input type\":[\"float\"]";
}

// As autograd accumulates it, in `duration_us`.
std::string gradient_of(int thread, double start_us, double duration_us, const std::string& dims) {
  const std::string accumulates = "torch::autograd::AccumulateGrad";
  return event("cpu_op", "autograd::engine::evaluate_function: " + accumulates, thread, start_us,
               duration_us) +
         ",\n" + event("cpu_op", accumulates, thread, start_us + 0.2, 0.5, shaped(dims));
}

// What DDP's import looks for, where shapes were recorded: two gradients, and their reduction asked
// for while autograd accumulates the second.
std::string backward_of_ddp(double t, bool on_gpu) {
  std::string text = event("user_annotation", "DistributedDataParallel.forward", 77, t + 1, 28);
  text +=
      ",\n" + gradient_of(79, t + 35, 2, "[20, 30]") + ",\n" + gradient_of(79, t + 42, 4, "[400]");
  if (on_gpu) return text + ",\n";
  return text + ",\n" + event("cpu_op", "c10d::allreduce_", 79, t + 44, 1, shaped("[[1000]], []")) +
         ",\n";
}

// A collective of a unit, asked for on thread 77.
std::string call_of_unit(double t, bool gathers, bool on_gpu) {
  const std::string op = gathers ? "_allgather_base_" : "_reduce_scatter_base_";
  const std::string elements = gathers ? "500" : "1000";
  const std::string asked = event("cpu_op", "c10d::" + op, 77, t, 1) + ",\n";
  if (!on_gpu) {
    return asked + event("user_annotation", gathers ? "gloo:all_gather" : "gloo:all_reduce", 78,
                         t + 1, 2, shaped("[" + elements + "]"));
  }
  const std::string correlation = "\"correlation\":" + std::to_string(static_cast<int>(10 * t));
  const std::string kernel = gathers ? "ncclDevKernel_AllGather" : "ncclDevKernel_ReduceScatter";
  return asked + event("cuda_runtime", "cudaLaunchKernel", 77, t, 1, correlation) + ",\n" +
         event("kernel", kernel, 20, t + 1, 2,
               "\"device\":0,\"stream\":20," + correlation + ",\"Collective name\":\"" + op +
                   "\",\"In msg nelems\":" + elements +
                   ",\"Out msg nelems\":1000,\"dtype\":\"Float\",\"Process Group Name\":\"0\"");
}

// With what is asked for in it at once; times from a step's begin.
struct UnitMark {
  enum class Call : std::uint8_t { kNone, kGather, kReduce };
  std::string_view what;
  double begin_us, duration_us;
  Call call = Call::kNone;
};

// What fully_shard marks, in one step, of the root and of one unit.
constexpr std::array kMarksOfFullyShard{
    UnitMark{"root_pre_forward", 1, 1},
    UnitMark{"pre_forward", 2, 6},
    UnitMark{"all_gather", 3, 4, UnitMark::Call::kGather},
    UnitMark{"pre_forward (layers.0)", 10, 6},
    UnitMark{"all_gather (layers.0)", 11, 4, UnitMark::Call::kGather},
    UnitMark{"post_forward (layers.0)", 20, 1},
    UnitMark{"post_forward", 24, 1},
    UnitMark{"pre_backward", 31, 1},
    UnitMark{"pre_backward (layers.0)", 34, 6},
    UnitMark{"all_gather (layers.0)", 35, 4, UnitMark::Call::kGather},
    UnitMark{"post_backward_accumulate (layers.0)", 45, 1},
    UnitMark{"post_backward_reduce (layers.0)", 46, 4, UnitMark::Call::kReduce},
    UnitMark{"root_post_backward_callback", 60, 8},
    UnitMark{"post_backward_accumulate", 61, 1},
    UnitMark{"post_backward_reduce", 62, 5, UnitMark::Call::kReduce}};

// What FullyShardedDataParallel marks, likewise.
constexpr std::array kMarksOfWrappedModules{
    UnitMark{"forward", 1, 28},
    UnitMark{"_root_pre_forward", 1.2, 1},
    UnitMark{"_to_kwargs", 1.4, 0.4},
    UnitMark{"_pre_forward", 2.5, 6, UnitMark::Call::kGather},
    UnitMark{"_pre_forward_prefetch", 8, 0.3},
    UnitMark{"forward", 10, 12},
    UnitMark{"_pre_forward", 10.5, 6, UnitMark::Call::kGather},
    UnitMark{"_pre_forward_prefetch", 16, 0.3},
    UnitMark{"_post_forward", 20, 1},
    UnitMark{"_post_forward", 24, 1},
    UnitMark{"_pre_backward_hook", 31, 6},
    UnitMark{"_pre_backward_prefetch", 32, 4, UnitMark::Call::kGather},
    UnitMark{"_pre_backward_hook", 38, 2},
    UnitMark{"_pre_backward_prefetch", 39, 0.5},
    UnitMark{"_post_backward_hook", 45, 5},
    UnitMark{"_post_backward_prefetch", 45.2, 0.3, UnitMark::Call::kReduce},
    UnitMark{"_post_backward_hook", 61, 6},
    UnitMark{"_post_backward_prefetch", 61.2, 0.3, UnitMark::Call::kReduce}};

std::string step_of_units(double t, bool on_gpu, const std::string& prefix,
                          std::span<const UnitMark> marks) {
  std::string text;
  for (const auto& [what, begin_us, duration_us, call] : marks) {
    text +=
        event("user_annotation", prefix + std::string(what), 77, t + begin_us, duration_us) + ",\n";
    if (call == UnitMark::Call::kNone) continue;
    text += call_of_unit(t + begin_us + 1, call == UnitMark::Call::kGather, on_gpu) + ",\n";
  }
  return text + gradient_of(77, t + 42, 2, "[1000]") + ",\n";
}

// Phases, kernels, a collective and a copy. `n`: the step's number, as a text.
std::string step_of_ddp(double t, const std::string& n, int rank, bool on_gpu) {
  std::string text;
  text += event("user_annotation", "## forward ##", 77, t, 30) + ",\n";
  text += event("user_annotation", "## backward ##", 77, t + 30, 40) + ",\n";
  text += backward_of_ddp(t, on_gpu);
  text += event("cpu_op", "aten::linear", 77, t + 1, 10, "\"External id\":" + n) + ",\n";
  text += event("cpu_op", "aten::addmm", 77, t + 2, 5, "\"Sequence number\":3") + ",\n";
  const std::string call =
      "\"Collective name\":\"allreduce\",\"In msg nelems\":1000,\"Out msg nelems\":1000,"
      "\"Group size\":2,\"dtype\":\"Float\",\"Process Group Name\":\"0\",\"Seq\":" +
      n;
  if (on_gpu) {
    text +=
        event("cuda_runtime", "cudaLaunchKernel", 77, t + 44, 1, "\"correlation\":9" + n) + ",\n";
    text += event("kernel", "gemm", 7, t + 40, 20,
                  "\"device\":0,\"stream\":7,\"grid\":[1,1,1],\"correlation\":8" + n) +
            ",\n";
    text += event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 20, t + 50, 20 + rank,
                  "\"device\":0,\"stream\":20,\"correlation\":9" + n + "," + call) +
            ",\n";
    text +=
        event("gpu_memcpy", "Memcpy DtoH", 7, t + 80, 4, "\"device\":0,\"stream\":7,\"bytes\":64") +
        ",\n";
  } else {
    text += event("user_annotation", "gloo:all_reduce", 78, t + 50, 20,
                  "\"Input Dims\":[[1000]],\"Input type\":[\"float\"]") +
            ",\n";
    text += event("cpu_op", "record_param_comms", 77, t + 45, 2, call) + ",\n";
  }
  text +=
      "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"pid\":77,\"tid\":77,"
      "\"ts\":" +
      std::to_string(t) +
      ",\"args\":{\"Total Allocated\":1024,\"Bytes\":512,\"Device Type\":0}},\n";
  text += "{\"ph\":\"s\",\"id\":9" + n + ",\"pid\":77,\"tid\":77,\"ts\":" + std::to_string(t) +
          ",\"cat\":\"ac2g\",\"name\":\"ac2g\"},\n";
  return text;
}

std::string step_of(KinetoProgram program, double t, const std::string& n, int rank, bool on_gpu) {
  switch (program) {
    case KinetoProgram::kDdp:
      return step_of_ddp(t, n, rank, on_gpu);
    case KinetoProgram::kFullyShard:
      return step_of_units(t, on_gpu, "FSDP::", kMarksOfFullyShard);
    case KinetoProgram::kWrappedModules:
      return step_of_units(t, on_gpu, "FullyShardedDataParallel.", kMarksOfWrappedModules);
  }
  return "";
}

}  // namespace

std::string kineto_sample(KinetoProgram program, int rank, bool on_gpu) {
  std::string text = "{\"schemaVersion\":1,\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":" +
                     std::to_string(rank) +
                     ",\"world_size\":2,\"pg_config\":[{\"pg_name\":\"0\",\"backend_config\":"
                     "\"cpu:gloo,cuda:nccl\",\"ranks\":[0,1]}]},"
                     "\"deviceProperties\":[{\"id\":0,\"name\":\"NVIDIA H100\",\"numSms\":132,"
                     "\"totalGlobalMem\":85000000000}],\"baseTimeNanoseconds\":1700000000000000000,"
                     "\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  for (int step = 0; step < 4; ++step) {
    const double t = 1000 + step * 100;
    const std::string n = std::to_string(step);
    text += event("user_annotation", "ProfilerStep#" + n, 77, t, 95) + ",\n";
    text += step_of(program, t, n, rank, on_gpu);
  }
  return text +
         "{\"name\":\"thread_name\",\"ph\":\"M\",\"ts\":1,\"pid\":77,\"tid\":77,\"args\":"
         "{\"name\":\"thread 77\"}}\n],\"traceName\":\"worker.json\"}";
}

}  // namespace shardlens::bench
