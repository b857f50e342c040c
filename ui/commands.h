// What panels ask for: plain values that `app` carries out after the frame.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace shardlens::ui {

struct SetKnob {
  std::string name, text;
};
struct ResetKnobs {};  // to the baseline's values
struct ResetKnob {
  std::string name;
};
struct StartRun {
  bool stop_current = false;
};  // starts, or queues while a job runs
struct StopRun {};
struct CancelQueued {};
struct ShowRun {
  std::string folder;
};  // open a run of the ledger
struct SetBaseline {
  std::string folder;
};
struct CopySettings {
  std::string folder;
};  // that run's settings become the next run's
struct SelectStep {
  std::int64_t step = -1;
};  // -1: follow the latest
struct StartReplay {
  std::string folder;
};
struct StopReplay {};
struct SetReplayPlaying {
  bool playing = true;
};
struct SetReplaySpeed {
  double speed = 1;
};
struct SeekReplay {
  std::int64_t time_ns = 0;
};
struct RetryTrainerSetup {};
struct OpenPlan {};  // the card with what every strategy would need
struct ClosePlan {};
struct SetPlanTarget {
  std::string name, text;  // "model", "gpu", "gpus_per_node" or "nodes"
};
struct CopyText {
  std::string text;
};
struct Quit {};

using Command = std::variant<SetKnob, ResetKnobs, ResetKnob, StartRun, StopRun, CancelQueued,
                             ShowRun, SetBaseline, CopySettings, SelectStep, StartReplay,
                             StopReplay, SetReplayPlaying, SetReplaySpeed, SeekReplay,
                             RetryTrainerSetup, OpenPlan, ClosePlan, SetPlanTarget, CopyText, Quit>;
using Commands = std::vector<Command>;

}  // namespace shardlens::ui
