// A run opened to be looked around in: its rows, pictures of any part of it, statistics of any
// range, search, details. Opening reads what was kept with it; the rest comes when it is asked for,
// or in the background. Any thread; calls may take as long as they say.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "trace/base/result.h"
#include "trace/store/chunk/event_store.h"
#include "trace/timeline/values/event_details.h"
#include "trace/timeline/values/name_hits.h"
#include "trace/timeline/values/picture.h"
#include "trace/timeline/values/range_figures.h"
#include "trace/timeline/values/step_memory.h"
#include "trace/timeline/values/timeline_rows.h"

namespace shardlens::trace::explore {

class RunExplorer {
 public:
  // Errors: those of the run's files. `is_live`: more is being recorded, and until a refresh() says
  // that it has ended, a GPU's events may still come.
  static base::Result<std::unique_ptr<RunExplorer>> open(
      const std::filesystem::path& run, const store::EventStoreOptions& options = {},
      bool is_live = false);
  ~RunExplorer();

  std::shared_ptr<const timeline::TimelineRows> rows() const;

  // Milliseconds: the overview where a pixel is longer than its cells, else events, from the cache
  // where they are there. `wanted` is asked in between; false gives up with kFailed.
  base::Result<timeline::TimelinePicture> picture(const timeline::PictureRequest& request,
                                                  const std::function<bool()>& wanted = {});
  // Up to tenths of a second for ten million events.
  // Those of the whole run are kept with it, where it is large and nobody writes to it.
  base::Result<timeline::RangeFigures> statistics(const timeline::TimeRange& range,
                                                  const std::function<bool()>& wanted = {});
  timeline::TimeRange whole() const;
  // What is known of the whole run without waiting: all of it, where it was kept; else what was
  // counted so far by work(); null where nothing was. Milliseconds.
  std::shared_ptr<const timeline::RangeFigures> whole_so_far() const;
  // Of what begins before `until_ns`: how far a replay has come.
  base::Result<timeline::NameHits> find(const timeline::NamePattern& pattern,
                                        const std::function<bool()>& wanted = {},
                                        std::int64_t until_ns = INT64_MAX);
  // The hit after (direction 1) or before (-1) a time, over all rows; none: there is no further
  // one.
  std::optional<timeline::EventPlace> neighbour_hit(const timeline::NamePattern& pattern,
                                                    int direction, std::int64_t from_ns,
                                                    const std::function<bool()>& wanted = {});
  // The event behind (direction 1) or before (-1) another one on its row and level.
  std::optional<timeline::EventPlace> neighbour_event(const timeline::EventRef& event,
                                                      int direction);
  base::Result<timeline::EventDetails> details(const timeline::EventRef& event);
  // Of a step that ends by `until_ns`. Milliseconds for ten thousand allocations.
  base::Result<timeline::StepMemory> memory(const timeline::StepMemoryRequest& request,
                                            const std::function<bool()>& wanted = {},
                                            std::int64_t until_ns = INT64_MAX);

  // Reads rows and events, a little with each call; true while there is more to do.
  // For a background thread.
  base::Result<bool> work();
  double progress() const;  // 0 to 1
  // What a live run has committed since; true if anything. `has_ended`: nothing follows, and what
  // was put off is due.
  base::Result<bool> refresh(bool has_ended = false);

 private:
  struct State;
  explicit RunExplorer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace shardlens::trace::explore
