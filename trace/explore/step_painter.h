// Paints one step of all ranks as rows with their pictures, from what was read of its time alone.
// One owner.
#pragma once

#include <functional>
#include <map>

#include "trace/analysis/figures/figures.h"
#include "trace/base/result.h"
#include "trace/explore/run/rank_rows.h"
#include "trace/model/batch.h"
#include "trace/model/strings.h"
#include "trace/timeline/values/picture.h"
#include "trace/timeline/values/timeline_rows.h"

namespace shardlens::trace::explore {

class StepPainter {
 public:
  // Rows that hold for the whole run: groups, buckets, units, ranks. The others are passed over.
  void learn(const model::Batch& batch);

  // Hands over what touches the step's time, in any order; of a thousand ranks one after the other,
  // so that their events need not be in memory at once.
  using ReadRows =
      std::function<base::Result<void>(const std::function<void(const model::Batch&)>& take)>;
  // `step`: of `figures`; `strings`: of all ranks.
  base::Result<timeline::StepPicture> paint(const analysis::RunFigures& figures,
                                            const analysis::StepFigures& step,
                                            const model::StringTable& strings,
                                            const ReadRows& read) const;

 private:
  std::map<int, RankRowsBuilder> known_;  // by rank
};

}  // namespace shardlens::trace::explore
