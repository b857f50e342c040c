// Answers, before a run, what every strategy would need: on this machine, and on the GPUs of the
// plan card. The last answers are kept, so asking again for the same settings costs nothing; a new
// one costs milliseconds. Interface thread only.
#pragma once

#include <memory>
#include <optional>

#include "app/session/machine.h"
#include "trace/model/result.h"
#include "trace/model/settings.h"
#include "ui/commands.h"
#include "ui/strategy_estimates.h"

namespace shardlens::app {

class StrategyPlanner {
 public:
  explicit StrategyPlanner(Machine machine = {});

  // The same pointer for the same settings; null where their model is not known.
  std::shared_ptr<const ui::StrategyEstimates> estimates(const trace::Settings& next);

  void open_card() { is_open_ = true; }
  void close_card() { is_open_ = false; }
  // Error kUsage: no such GPU or model, or not a number of machines; the target stays.
  trace::Result<void> set_target(const ui::SetPlanTarget& change);
  // Null while the card is closed.
  std::shared_ptr<const ui::PlanCard> card(const trace::Settings& next);

 private:
  struct Question {
    trace::Settings settings;
    ui::PlanTarget target;
    bool operator==(const Question&) const = default;
  };

  const Machine machine_;
  ui::PlanTarget target_;
  bool is_open_ = false;
  std::optional<trace::Settings> estimated_;
  std::shared_ptr<const ui::StrategyEstimates> estimates_;
  std::optional<Question> planned_;
  std::shared_ptr<const ui::PlanCard> card_;
};

// Each rank's part of what its device has; 0: not known.
std::int64_t usable_bytes_here(const trace::Settings& settings, const Machine& machine);

}  // namespace shardlens::app
