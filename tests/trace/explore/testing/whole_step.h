// A step as it is drawn, from batches that are all there. Any thread.
#pragma once

#include <string>
#include <vector>

#include "trace/analysis/run/run_analysis.h"
#include "trace/explore/step_painter.h"

namespace shardlens::trace::test {

inline timeline::StepPicture whole_step(const analysis::RunFigures& figures,
                                        const analysis::StepFigures& step,
                                        const std::vector<model::Batch>& batches,
                                        const model::StringTable& strings) {
  explore::StepPainter painter;
  for (const model::Batch& batch : batches) painter.learn(batch);
  const auto read = [&](const std::function<void(const model::Batch&)>& take) {
    for (const model::Batch& batch : batches) take(batch);
    return base::Result<void>();
  };
  return *painter.paint(figures, step, strings, read);
}

// The first step of a run of these rows.
inline timeline::StepPicture first_step(const model::RunInfo& info,
                                        const std::vector<model::Batch>& batches) {
  analysis::RunAnalysis analysis(info);
  for (const model::Batch& batch : batches) analysis.add(batch);
  const analysis::RunFigures figures = analysis.figures();
  return whole_step(figures, figures.steps.at(0), batches, analysis.strings());
}

// The picture of a rank's row with this label; null: it has none.
inline const timeline::RowPicture* row_named(const timeline::StepPicture& step, int rank,
                                             const std::string& label) {
  for (const timeline::TimelineRow& row : step.rows->rows) {
    if (row.rank == rank && row.label == label) {
      return &step.picture->rows.at(static_cast<std::size_t>(row.id));
    }
  }
  return nullptr;
}

inline const std::string& name_of(const timeline::StepPicture& step, std::uint32_t name) {
  return step.picture->names.at(name);
}

}  // namespace shardlens::trace::test
