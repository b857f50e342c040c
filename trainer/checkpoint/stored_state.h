// The files of a checkpoint, opened: which of them hold which range of a parameter, and reading of
// such ranges with their checksums verified. Knows no LibTorch. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trace/base/result.h"
#include "trace/job/checkpoint/checkpoint_info.h"
#include "trainer/checkpoint/checkpoint_plan.h"
#include "trainer/checkpoint/safetensors.h"

namespace shardlens::trainer::checkpoint {

// Checks everything against the checksums in the metadata; gives `sink` the elements [begin, end)
// of a tensor of a file piece by piece, with the first one's number. kDamaged names file and
// tensor.
using ElementSink = std::function<void(std::int64_t first, std::span<const std::byte> bytes)>;
trace::base::Result<void> read_verified(const SafetensorsFile& file, const TensorEntry& tensor,
                                        std::int64_t begin, std::int64_t end,
                                        const ElementSink& sink);

class StoredState {
 public:
  static trace::base::Result<StoredState> open(const trace::job::CheckpointInfo& info);

  bool holds(const std::string& parameter, Slot slot) const;
  // Of what holds() says; kDamaged if parts of it are stored with different types.
  trace::base::Result<DataType> type_of(const std::string& parameter, Slot slot) const;
  // Elements of the flattened parameter, in any order.
  trace::base::Result<void> read(const std::string& parameter, Slot slot, std::int64_t begin,
                                 std::int64_t end, const ElementSink& sink) const;
  trace::base::Result<double> optimizer_steps(const std::string& parameter) const;

 private:
  struct Part {
    std::size_t file = 0;
    TensorEntry tensor;
    std::int64_t begin = 0, end = 0;  // elements of the parameter
  };
  trace::base::Result<void> add_file(const std::filesystem::path& path, bool is_optimizer,
                                     const std::map<std::string, std::int64_t>& numels);

  std::string folder_;
  std::vector<SafetensorsFile> files_;
  std::map<std::pair<std::string, Slot>, std::vector<Part>> parts_;
  std::map<std::string, double> steps_;
};

}  // namespace shardlens::trainer::checkpoint
