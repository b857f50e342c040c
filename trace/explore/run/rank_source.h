// One rank of a run: its pyramid and its rows. Any thread; the file itself is read by one at a
// time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "trace/base/result.h"
#include "trace/explore/run/rank_rows.h"
#include "trace/store/lod/tiles/lod_reader.h"
#include "trace/store/read/row_reader.h"
#include "trace/store/run/trace_file.h"
#include "trace/timeline/pieces/cell_pieces.h"
#include "trace/timeline/pieces/ribbon_columns.h"

namespace shardlens::trace {

class RankSource {
 public:
  // Reads what the first frame needs: what the pyramid knows, lanes and their names.
  static Result<std::unique_ptr<RankSource>> open(const std::filesystem::path& file, int rank);

  int rank() const { return rank_; }
  // After open() only lanes, groups and the rank itself; then, once all were read, all of them.
  std::shared_ptr<const RankRows> rows() const;
  bool has_all_rows() const;

  std::vector<LodStream> streams() const;
  LodReader::Extent extent() const;
  // From the pyramid, those that touch the window. `name` is a string id of the rank.
  struct Cells {
    std::vector<SummaryCell> cells;
    bool is_complete = true;
  };
  Result<Cells> read_cells(const LodStream& stream, int level, Interval window);
  struct Classes {
    std::vector<ClassCell> cells;
    bool is_complete = true;
  };
  Result<Classes> read_classes(int level, Interval window);

  // The next rows; true while there are more. Where they cannot be read, what there is stays.
  bool read_rows();
  // The next missing tiles; true while there are more.
  bool rebuild_some();
  // What could not be read, "" for nothing.
  std::string problem() const;
  double fraction() const;  // of tiles
  // What was committed since; true if anything was.
  Result<bool> refresh();

 private:
  RankSource(std::filesystem::path file, int rank);
  Result<void> open_file();
  Result<void> read_part();
  void publish(std::shared_ptr<const RankRows> rows);
  Result<LodReader::Tiles> tiles(const LodStream& stream, int level, Interval window);

  const std::filesystem::path path_;
  const int rank_;

  mutable std::mutex file_mutex_;  // for the next six
  std::optional<TraceFile> file_;
  std::unique_ptr<LodReader> pyramid_;
  RowReader reader_;
  RankRowsBuilder builder_;
  bool has_more_rows_ = true;
  std::string problem_;

  mutable std::mutex rows_mutex_;  // for the next two
  std::shared_ptr<const RankRows> rows_;
  bool has_all_rows_ = false;
};

}  // namespace shardlens::trace
