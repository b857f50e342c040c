// Records what NCCL is asked for and how it does it, as NCCL's profiler plugin. The program or
// library that links this exports ncclProfiler_v5, which NCCL (2.28 and newer) looks up when the
// variable kVariable names it: kThisProgram in an executable, the file's path in a shared library.
#pragma once

#include <memory>
#include <string_view>

#include "profiler/nccl/nccl_events.h"
#include "trace/base/result.h"

namespace shardlens::profiler::nccl {

// Of this process in a communicator.
struct CommunicatorPlace {
  int rank = 0;
  int ranks = 0;
  int nodes = 0;
};

class NcclPlugin {
 public:
  // To be set before the first call of NCCL.
  static constexpr const char* kVariable = "NCCL_PROFILER_PLUGIN";
  static constexpr const char* kThisProgram = "STATIC_PLUGIN";
  // For RankInfo::sources.
  static constexpr std::string_view kSourceText = "collectives: NCCL's profiler plugin";

  // `rank` is the global one. One at a time per process, else kFailed. The recorder must outlive
  // it. Any thread.
  static trace::base::Result<std::unique_ptr<NcclPlugin>> attach(recorder::Recorder& recorder,
                                                                 int rank, LaunchMarker marker);
  // `observer` is called inside ncclCommInitRank and its like, for each communicator from now on.
  static void on_communicator(void (*observer)(const CommunicatorPlace&));
  // From now on NCCL's events are ignored; waits for those that are being handled.
  ~NcclPlugin();
  NcclPlugin(const NcclPlugin&) = delete;
  NcclPlugin& operator=(const NcclPlugin&) = delete;

  // That NCCL has told of since the process began. 0 although one was made: this NCCL does not know
  // the plugin, or was told to take another.
  static int communicators();

 private:
  explicit NcclPlugin(std::unique_ptr<NcclEvents> events);
  std::unique_ptr<NcclEvents> events_;
};

}  // namespace shardlens::profiler::nccl

// What NCCL looks up.
extern "C" const shardlens::profiler::nccl::Profiler ncclProfiler_v5;
