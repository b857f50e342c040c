// When forward and backward were at which layer of a model, in a run that tells of some of them: of
// units, or of gradients. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/predict/layers/layer_order.h"
#include "trace/predict/record/recorded_steps.h"
#include "trace/predict/record/step_work.h"
#include "trace/predict/schedule/step_program.h"
#include "trace/predict/sizes/planned_job.h"

namespace shardlens::trace::tuning {

class LayerClock {
 public:
  // `gradients`: their parameters, in the order in which they come. `has_units`: the job's units
  // were recorded.
  LayerClock(const predict::PlannedJob& job, const std::vector<std::string>& gradients,
             bool has_units);
  // Of a model of which only units are known, which forward enters one after the other: the root,
  // which goes around them, and at least one more. Layers: what comes before them, each of them,
  // what follows.
  explicit LayerClock(std::size_t units);

  const std::vector<predict::OrderedLayer>& layers() const { return layers_; }
  // For each gradient, the place in LayerMoments::backwards that backward has reached when it is
  // ready; empty: not known of all of them.
  std::vector<std::size_t> gradient_places() const;
  // What is computed a second time with the job's settings, and what would be with others.
  std::vector<predict::SecondForward> second_forwards(const job::Settings& next) const;

  // Writes `layers`: what lies between two moments that are known goes by operations (6·N +
  // 12·L·C·T, as under MFU), those of a second forward at the pace of the first.
  void fill(predict::MicroBatchWork& work) const;

 private:
  struct Known {
    std::size_t place = 0;
    predict::Moment moment;
  };
  struct RecordedUnit {
    predict::LayerSpan layers;
    bool passes_gradient = true;
  };

  std::vector<Known> known_forwards(const predict::MicroBatchWork& work) const;
  std::vector<Known> known_backwards(const predict::MicroBatchWork& work) const;
  std::vector<double> backward_done(const predict::MicroBatchWork& work) const;
  std::vector<predict::Moment> second_forwards(const predict::LayerMoments& moments) const;
  std::size_t backward_place(std::size_t layer) const { return layers_.size() - layer; }

  std::vector<predict::OrderedLayer> layers_;
  std::vector<double> forward_done_;                     // operations, by place
  std::vector<predict::SecondForward> second_forwards_;  // of blocks, as recorded
  std::vector<std::int64_t> blocks_;                     // their numbers
  std::vector<RecordedUnit> units_;                      // by index; the root's is of no use
  bool are_blocks_ = false;                              // the units
  // For each gradient the place of gradient_places(); none: the parameter that it belongs to is not
  // known.
  std::vector<std::optional<std::size_t>> gradient_places_;
};

// The order in which gradients come where nobody planned buckets: that in which forward comes to
// what is trained, backwards.
std::vector<predict::RecordedSteps::Gradient> gradients_backwards(const predict::PlannedJob& job);

}  // namespace shardlens::trace::tuning
