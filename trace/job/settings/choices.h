// Settings that are one of a few values. What each is called in YAML and on the command line stands
// in the table of knobs alone (knobs.cpp), in the order of these enumerations, which count from 0.
#pragma once

#include <cstdint>
#include <string_view>

namespace shardlens::trace::job {

enum class AutoBool : std::uint8_t { kAuto, kTrue, kFalse };
enum class OnBadLines : std::uint8_t { kStop, kSkip };
enum class UnevenInputs : std::uint8_t { kEven, kJoin };
enum class DeviceChoice : std::uint8_t { kAuto, kCpu, kCuda };
// Of the kind of device that ranks were found to have: "cuda", as LibTorch calls it, or "cpu".
inline DeviceChoice device_choice(std::string_view kind) {
  return kind == "cuda" ? DeviceChoice::kCuda : DeviceChoice::kCpu;
}

// What each keeps where: StrategyTraits.
enum class Strategy : std::uint8_t {
  kDdp,
  kZero1,
  kNoShard,
  kShardGradOp,
  kFullShard,
  kHybridShard,
  kHybridShardZero2,
};
enum class CommunicationHook : std::uint8_t { kNone, kFp16Compress, kBf16Compress };
enum class Communication : std::uint8_t { kOn, kNone };
enum class WrapPolicy : std::uint8_t { kTransformerBlock, kSize, kWholeModel };
enum class BackwardPrefetch : std::uint8_t { kPre, kPost, kNone };
enum class StreamPriority : std::uint8_t { kAuto, kHigh, kNormal };

enum class Precision : std::uint8_t { kFp32, kBf16, kFp16 };
enum class DataType : std::uint8_t { kAuto, kFp32, kBf16, kFp16 };
enum class BaseType : std::uint8_t { kAuto, kFp32, kBf16, kNf4 };

enum class OptimizerChoice : std::uint8_t { kAdamW, kSgd };
enum class LrSchedule : std::uint8_t {
  kCosine,
  kLinear,
  kConstant,
  kConstantWithWarmup,
  kCosineWithRestarts,
  kCosineWithMinLr,
  kPolynomial,
  kInverseSqrt,
  kWarmupStableDecay,
};
enum class OnNonfinite : std::uint8_t { kStop, kContinue };

enum class CheckpointFormat : std::uint8_t { kFull, kSharded };
enum class SaveModel : std::uint8_t { kAuto, kNone, kEnd, kBest };

}  // namespace shardlens::trace::job
