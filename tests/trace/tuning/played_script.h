// What the ranks of a played job do in one step.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/trace/predict/schedule/testing/event_player.h"
#include "trace/model/events.h"
#include "trace/predict/record/recorded_steps.h"

namespace shardlens::trace::tuning {

constexpr int kPlayedRanks = 2;

// The same deeds on both ranks, which take another time.
struct PlayedScript {
  enum class Mark {
    kForwardBegin,
    kForwardEnd,
    kBackwardBegin,
    kBackwardEnd,
    kOptimizerBegin,
    kGradient,
  };

  struct Name {
    model::CollectiveFunction function = model::CollectiveFunction::kOther;
    model::TagKind kind = model::TagKind::kNamed;
    int index = -1;
    std::string tag;
    std::int64_t bytes = 0;
  };

  std::vector<predict::PlayedRank> ranks{kPlayedRanks};
  std::vector<predict::PlayedCall> calls;
  std::vector<Name> names;                            // of the calls
  std::vector<std::pair<Mark, std::size_t>> moments;  // before the deed of that place
  std::vector<std::vector<std::size_t>> buckets;      // of DDP
  std::vector<predict::RecordedSteps::Gradient> gradients;
};

}  // namespace shardlens::trace::tuning
