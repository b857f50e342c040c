// What the tabs below the timeline show, invented but consistent: for tests and pictures.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "trace/timeline/values/straggler_figures.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::inspect {

struct TablesOptions {
  int ranks = 8;
  std::size_t extra_names = 0;  // further kernels, as a run with generated code has
  std::size_t sql_rows = 40;
  bool selection = true;
  int steps = 120;
};

// Durations drawn around `median_ns`, with figures and histogram as the definitions say.
trace::timeline::NameFigures sample_name(const std::string& name,
                                         trace::base::TimeClass piece_class, std::int64_t count,
                                         double median_ns, unsigned seed);

std::shared_ptr<const trace::timeline::RangeFigures> sample_range(const TablesOptions& options);
std::shared_ptr<const trace::timeline::StragglerFigures> sample_stragglers(int ranks, int calls);
std::shared_ptr<const trace::timeline::EventDetails> sample_details(int ranks);
std::shared_ptr<const state::SqlAnswer> sample_answer(std::size_t rows);
std::shared_ptr<const state::SqlAnswer> failed_answer();

state::Snapshot tables_snapshot(const TablesOptions& options = {});
// The same with another view: `change` gets a copy.
state::Snapshot with_view(const state::Snapshot& snapshot,
                          const std::function<void(state::InspectView&)>& change);

}  // namespace shardlens::ui::inspect
