// A step as it is drawn, from batches that are all there. Any thread.
#pragma once

#include <string>
#include <vector>

#include "trace/analysis/run/run_analysis.h"
#include "trace/explore/step_painter.h"

namespace shardlens::trace::test {

inline StepPicture whole_step(const RunFigures& figures, const StepFigures& step,
                              const std::vector<Batch>& batches, const StringTable& strings) {
  StepPainter painter;
  for (const Batch& batch : batches) painter.learn(batch);
  const auto read = [&](const std::function<void(const Batch&)>& take) {
    for (const Batch& batch : batches) take(batch);
    return Result<void>();
  };
  return *painter.paint(figures, step, strings, read);
}

// The first step of a run of these rows.
inline StepPicture first_step(const RunInfo& info, const std::vector<Batch>& batches) {
  RunAnalysis analysis(info);
  for (const Batch& batch : batches) analysis.add(batch);
  const RunFigures figures = analysis.figures();
  return whole_step(figures, figures.steps.at(0), batches, analysis.strings());
}

// The picture of a rank's row with this label; null: it has none.
inline const RowPicture* row_named(const StepPicture& step, int rank, const std::string& label) {
  for (const TimelineRow& row : step.rows->rows) {
    if (row.rank == rank && row.label == label) {
      return &step.picture->rows.at(static_cast<std::size_t>(row.id));
    }
  }
  return nullptr;
}

inline const std::string& name_of(const StepPicture& step, std::uint32_t name) {
  return step.picture->names.at(name);
}

}  // namespace shardlens::trace::test
