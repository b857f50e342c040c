// Answers, before a run, what every strategy would need: on this machine, and on the GPUs of the
// plan card. The last answers are kept, so asking again for the same settings costs nothing; a new
// one costs milliseconds. Interface thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "app/launch/device_probe.h"
#include "app/session/worker/latest_worker.h"
#include "trace/base/result.h"
#include "trace/job/settings/settings.h"
#include "trace/job/shape/model_shape.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::app::session {

// The shapes of models by their setting: presets at once, folders once a worker has read them, so
// that the window waits for no disk. `on_change` comes from the worker.
class ModelLookup {
 public:
  explicit ModelLookup(std::function<void()> on_change = {});

  // None: it is being read. An answer that is some seconds old is given, and asked for again: the
  // folder may have been put right meanwhile.
  std::optional<trace::base::Result<trace::job::ModelShape>> find(const std::string& model);
  // Grows whenever find() would say something else than before.
  std::uint64_t version() const;
  // Until all that was asked for has been read.
  void wait_until_idle() { worker_.wait_until_idle(); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Known {
    trace::base::Result<trace::job::ModelShape> shape;
    Clock::time_point read_at;
  };

  void read(const std::set<std::string>& models);

  const std::function<void()> on_change_;
  mutable std::mutex mutex_;  // guards what follows
  std::map<std::string, Known> known_;
  std::set<std::string> awaited_;
  std::uint64_t version_ = 0;

  LatestWorker<std::set<std::string>> worker_;  // last: stops first
};

// What a job could run on here.
struct Machine {
  launch::CudaProbe cuda;
  std::int64_t host_bytes = 0;  // physical memory; 0: not known
  std::string host{};           // as ranks name it; "": not known
  std::string mark{};           // as runs bear it, see base::machine_mark(); "": not known
};

// Asks the driver and the kernel: once, at the start.
Machine this_machine();

class StrategyPlanner {
 public:
  // `on_change` comes from another thread, when the folder of a model has been read.
  explicit StrategyPlanner(Machine machine = {}, std::function<void()> on_change = {});

  // Whether the same questions would be answered differently now. Looks again, now and then, for a
  // model that cannot be used: its folder may have been put right meanwhile.
  bool has_news();
  // The same pointer for the same settings; null where their model cannot be used, or not yet, or
  // where some of its blocks alone have adapters.
  std::shared_ptr<const ui::state::StrategyEstimates> estimates(const trace::job::Settings& next);
  // Adds to a draft what its model says: the estimates, or why it cannot be used.
  void complete(ui::state::KnobDraft& draft);

  // Until the folders that were asked for have been read. For whoever draws only once.
  void wait_for_models() { models_.wait_until_idle(); }

  void open_card() { is_open_ = true; }
  void close_card() { is_open_ = false; }
  // Error kUsage: no such GPU or model, or not a number of machines; the target stays.
  trace::base::Result<void> set_target(const ui::state::SetPlanTarget& change);
  // Null while the card is closed.
  std::shared_ptr<const ui::state::PlanCard> card(const trace::job::Settings& next);

 private:
  struct Question {
    trace::job::Settings settings;
    ui::state::PlanTarget target;
    bool operator==(const Question&) const = default;
  };

  void forget_if_news();

  const Machine machine_;
  ModelLookup models_;
  std::uint64_t seen_models_ = 0;
  ui::state::PlanTarget target_;
  bool is_open_ = false;
  std::optional<trace::job::Settings> estimated_;
  std::shared_ptr<const ui::state::StrategyEstimates> estimates_;
  std::string model_problem_;  // of what was estimated; "": none that is known
  std::optional<Question> planned_;
  std::shared_ptr<const ui::state::PlanCard> card_;
};

// Each rank's part of what its device has; 0: not known.
std::int64_t usable_bytes_here(const trace::job::Settings& settings, const Machine& machine);
// What the rank that needs most would need at its peak, by the model's shape. None: there is no
// such model, or some of its blocks alone have adapters. Reads the model's folder.
std::optional<std::int64_t> peak_bytes_here(const trace::job::Settings& settings,
                                            const Machine& machine);

}  // namespace shardlens::app::session
