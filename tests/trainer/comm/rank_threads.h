// Ranks as threads of one process, each with its own recorder, over Gloo on loopback. For tests.
#pragma once

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/files.h"
#include "tests/profiler/recorded_run.h"
#include "trainer/comm/communicator.h"

namespace shardlens::trainer::comm {

using Recording = profiler::RecordedRun::Content;
using RankBody = std::function<void(Communicator&, profiler::recorder::Recorder&)>;

inline CollectiveTag bucket_tag(int index) { return {trace::model::TagKind::kBucket, index, ""}; }

inline std::string message_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const c10::Error& caught) {
    return caught.what_without_backtrace();
  } catch (const std::exception& caught) {
    return caught.what();
  }
}

// What `action` throws; "" if it does not.
template <typename Action>
std::string message_thrown_by(Action action) {
  try {
    action();
  } catch (...) {
    return message_of(std::current_exception());
  }
  return "";
}

// Runs `body` on every rank and returns what each recorded. A throwing body fails the test.
inline std::vector<Recording> on_ranks(int world_size, const RankBody& body,
                                       CommunicatorOptions options = {}) {
  turn_flight_recorder_off();
  const trace::test::Folder folder;
  if (options.master_address.empty()) options.store_file = folder / "store";
  options.world_size = world_size;
  std::vector<Recording> recordings(static_cast<std::size_t>(world_size));
  const auto run_rank = [&](int rank) {
    at::set_num_threads(1);  // of this thread: small tensors, many ranks
    CommunicatorOptions mine = options;
    mine.rank = rank;
    profiler::RecordedRun run;
    {
      auto communicator = Communicator::connect(mine, run.recorder());
      ASSERT_TRUE(communicator) << communicator.error().message;
      try {
        body(**communicator, run.recorder());
      } catch (...) {
        ADD_FAILURE() << "rank " << rank << ": " << message_of(std::current_exception());
      }
      (*communicator)->shutdown();
    }
    recordings[static_cast<std::size_t>(rank)] = run.finish();
  };
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < world_size; ++rank) threads.emplace_back(run_rank, rank);
  threads.clear();
  return recordings;
}

}  // namespace shardlens::trainer::comm
