// The rows of one rank of a run, read a part at a time. Any thread; the file itself is read by one
// at a time.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "trace/base/intervals.h"
#include "trace/base/result.h"
#include "trace/explore/run/rank_rows.h"
#include "trace/store/read/rank_tail.h"
#include "trace/store/run/trace_file.h"

namespace shardlens::trace::explore {

class RankSource {
 public:
  // Reads what the first frame needs: lanes and their names.
  static base::Result<std::unique_ptr<RankSource>> open(const std::filesystem::path& file,
                                                        int rank);

  int rank() const { return rank_; }
  // After open() only lanes, groups and the rank itself; then, once all were read, all of them.
  std::shared_ptr<const RankRows> rows() const;
  bool has_all_rows() const;

  // The next rows; true while there are more. Where they cannot be read, what there is stays.
  bool read_rows();
  // What could not be read, "" for nothing.
  std::string problem() const;
  // What was committed since; true if anything was.
  base::Result<bool> refresh();
  // The time in which rows that came since the last call change the overview; empty until all rows
  // were read once.
  base::Interval take_news();

 private:
  RankSource(std::filesystem::path file, int rank);
  base::Result<void> open_file();
  base::Result<store::RowPart> read_part();
  void publish(std::shared_ptr<const RankRows> rows);

  const std::filesystem::path path_;
  const int rank_;

  mutable std::mutex file_mutex_;  // for the next six
  std::optional<store::TraceFile> file_;
  store::RankTail reader_;
  RankRowsBuilder builder_;
  bool has_more_rows_ = true;
  std::string problem_;
  base::Interval news_;

  mutable std::mutex rows_mutex_;  // for the next two
  std::shared_ptr<const RankRows> rows_;
  bool has_all_rows_ = false;
};

}  // namespace shardlens::trace::explore
