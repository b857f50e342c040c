// A picture of any part of a run: its rows painted side by side, their names joined. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/base/result.h"
#include "trace/explore/paint/row_painter.h"
#include "trace/explore/run/run_snapshot.h"
#include "trace/timeline/values/picture.h"

namespace shardlens::trace::explore {

// Errors: kFailed when `wanted`, which is asked in between, says false; those of the files.
base::Result<timeline::TimelinePicture> make_picture(const RunSnapshot& run,
                                                     const timeline::PictureRequest& request,
                                                     const std::function<bool()>& wanted);

// The texts that a picture's pieces name, each once. One thread.
class PictureNames {
 public:
  // null: all names are labels.
  explicit PictureNames(const store::EventStore* store);

  // Replaces the numbers of a row's pieces and marks by those of the picture.
  void take_over(RowDraft& draft, const RankSnapshot* rank);
  std::vector<std::string> take() { return std::move(names_); }

 private:
  std::uint32_t number_of(std::string_view text);
  std::uint32_t of_global(std::uint32_t name);
  std::uint32_t of_label(const RankSnapshot& rank, std::uint32_t label);

  const store::EventStore* store_;
  std::vector<std::string> names_{""};
  std::unordered_map<std::string, std::uint32_t> numbers_{{"", 0}};
  std::vector<std::uint32_t> by_global_;
  std::map<int, std::vector<std::uint32_t>> by_label_;  // by rank
};

}  // namespace shardlens::trace::explore
