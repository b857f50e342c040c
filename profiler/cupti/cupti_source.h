// Records what the GPU did through CUPTI's activity records. Start it before the first CUDA call;
// one per process, and none under another profiler. Any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "profiler/cupti/api/cupti_api.h"
#include "profiler/cupti/graphs/graph_nodes.h"
#include "profiler/cupti/recorder_sink.h"
#include "profiler/recorder/clock_watch.h"
#include "profiler/recorder/recorder.h"
#include "trace/base/result.h"

namespace shardlens::profiler::cupti {

struct CuptiApi;

struct CuptiOptions {
  std::size_t buffers = 32;       // of 1 MiB
  std::filesystem::path library;  // of CUPTI, where the process has not loaded one; may be empty
  const CuptiApi* api = nullptr;  // instead of a library; copied
  // Collectives that CUDA graphs replay become rows, not only kernels. CUPTI has one subscriber per
  // process, so other users of its callbacks get none.
  bool graphs = false;
  // Sees every kernel, those without detail too, before it is recorded; the flush thread.
  KernelObserver on_kernel;
};

class CuptiSource {
 public:
  // For a program of which it is not known yet whether it will work on a GPU: CUPTI records, and
  // start() takes over what it has by then. Errors as of start().
  static trace::base::Result<void> prepare(const CuptiOptions& options);
  static bool is_prepared();  // or started, and not ended
  // After prepare(): whether the GPU did anything yet, with `is_forced` also what CUPTI has not
  // handed over. What came without work, as waits for nothing, is dropped.
  static bool has_work(bool is_forced = false);
  // Of CuptiOptions::buffers: how many are full of records that nobody has taken in.
  static std::size_t held_buffers();

  // kMissing without CUPTI, kFailed without a driver, where another profiler has it or the user may
  // not use it; the message says what to do. After prepare() only the observer of `options` counts.
  // The recorder must outlive the source.
  static trace::base::Result<std::unique_ptr<CuptiSource>> start(recorder::Recorder& recorder,
                                                                 CuptiOptions options = {});
  // Takes in what CUPTI still holds.
  ~CuptiSource();

  // Hands everything that has ended to the recorder. False: not done within `limit`.
  bool flush(std::chrono::milliseconds limit);

  // "" or why CUPTI does not tell of graphs although it was asked to.
  const std::string& graphs_refused() const;

  // Kernels that this thread launches in between are reported to Recorder::end_launch; those that
  // it captures into a CUDA graph, with every replay, to Recorder::end_replay. Never block; without
  // a source they do nothing.
  static void begin_launch(std::uint64_t launch, std::uint64_t order = CapturedLaunch::kNoOrder);
  static void end_launch();

  // For RankInfo::sources.
  static constexpr std::string_view kSourceText = "kernels, copies and launches: CUPTI";

 private:
  struct State;
  explicit CuptiSource(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// CUPTI's time minus the host's, CLOCK_REALTIME, in which everything else is recorded. None if
// CUPTI gives no time.
std::optional<recorder::ClockOffset> cupti_clock_offset(const CuptiApi& api);

}  // namespace shardlens::profiler::cupti
