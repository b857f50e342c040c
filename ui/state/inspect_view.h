// What the Inspect workspace shows beside the run's figures: immutable, published by `app`. Each
// part comes when it is ready and stays until the next one is. Plain values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trace/model/bookmarks.h"
#include "trace/timeline/values/event_details.h"
#include "trace/timeline/values/name_hits.h"
#include "trace/timeline/values/picture.h"
#include "trace/timeline/values/range_figures.h"
#include "trace/timeline/values/step_memory.h"
#include "trace/timeline/values/timeline_rows.h"

namespace shardlens::ui::state {

struct SqlAnswer {
  std::string query;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // as text; NULL is ""
  std::vector<bool> is_number;                 // by column
  bool truncated = false;                      // there were more rows than the table takes
  std::string error;                           // "" for none
  std::optional<std::size_t> wrong_at;         // the byte of `query` that it is about, if known
  std::string left_out;                        // a rank that cannot be read, and why; "" for none
  double seconds = 0;
};

struct SqlConsole {
  bool running = false;
  std::shared_ptr<const SqlAnswer> answer;  // null: nothing was asked yet
  struct Table {
    std::string name;
    std::vector<std::string> columns;
  };
  std::vector<Table> tables;         // that a query may name
  std::vector<std::string> history;  // the newest first
};

struct InspectView {
  std::string run_folder;
  std::shared_ptr<const trace::timeline::TimelineRows> rows;         // null: being opened
  std::shared_ptr<const trace::timeline::TimelinePicture> overview;  // row 0 over the whole run
  std::shared_ptr<const trace::timeline::TimelinePicture> picture;  // of the request that came last
  std::shared_ptr<const trace::timeline::RangeFigures> range;       // null: being counted
  bool counting_range = false;                                   // `range` is of the range before
  std::shared_ptr<const trace::timeline::NameHits> hits;         // null: no search
  std::shared_ptr<const trace::timeline::EventDetails> details;  // null: nothing is picked
  std::shared_ptr<const trace::timeline::StepMemory> memory;     // null: was not asked for
  // Where the timeline should go next, because a hit, a link or an instance was asked for. Obeyed
  // once for each number.
  trace::timeline::EventPlace reveal;
  std::uint64_t reveal_number = 0;
  trace::model::Bookmarks bookmarks;
  SqlConsole sql;
  double progress = 1;  // of reading and rebuilding in the background
  std::string problem;  // why nothing can be shown, or not all that was asked for
};

}  // namespace shardlens::ui::state
