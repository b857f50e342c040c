// The memory of strategies with units: shards, gathered units, gradients under way. They come and
// go when the trainer's would, since both go by job::UnitSchedule.
#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "trace/job/units/unit_schedule.h"
#include "trace/predict/memory/kept_memory.h"
#include "trace/predict/sizes/model_units.h"

namespace shardlens::trace::predict {

namespace {

constexpr int kRoot = 0;

Holding gathered_as(int unit) {
  return unit == kRoot ? Holding::kGatheredRoot : Holding::kGatheredUnits;
}

class UnitMemory final : public KeptMemory, private job::UnitActions {
 public:
  UnitMemory(const PlannedJob& job, const ModelSizes& sizes, MemoryLedger& ledger)
      : KeptMemory(ledger),
        job_(job),
        sizes_(sizes),
        shards_(shard_sizes(job, sizes)),
        bytes_(element_bytes(job.settings)),
        // On a CPU shards are in the host's memory anyway.
        offloads_(job.settings.cpu_offload && job.on_gpu),
        is_resident_(shards_.group == 1 && bytes_.gathered == 4 && !offloads_),
        schedule_(shards_.units.size(), job::unit_schedule_options(job.settings), *this),
        of_parameter_(static_cast<std::size_t>(sizes.parameter_count())),
        waited_(shards_.units.size()),
        has_sums_(shards_.units.size()) {
    for (int unit = kRoot + 1; unit < unit_count(); ++unit) {
      for (int i = parameters(unit).first; i < parameters(unit).end; ++i) {
        of_parameter_[static_cast<std::size_t>(i)].push_back(unit);
      }
    }
    // The step that is walked through is not the first.
    std::vector<int> order(shards_.units.size());
    std::iota(order.begin(), order.end(), kRoot);
    schedule_.set_order_before(std::move(order));
  }

  void hold_at_rest() override {
    if (offloads_) return;
    ledger_.add(Holding::kParameters,
                bytes_.master * shards_.trained_values() + shards_.frozen_bytes());
    ledger_.add(Holding::kOptimizerState, optimizer_state(job_, sizes_).bytes);
  }

  void begin_forward(bool reduces, bool adds) override {
    // Autograd finds no gradient to add to where they are added up apart.
    adds_ = adds && !bytes_.adds_as_reduced;
    next_ = kRoot + 1;
    schedule_.set_require_sync(reduces);
    schedule_.begin_forward(true);
  }

  void enter_layers(ParameterRange layers) override {
    for (; next_ < unit_count() && parameters(next_).first < layers.end; ++next_) {
      while (!open_.empty() && !parameters(open_.back()).contains(parameters(next_))) leave_unit();
      open_.push_back(next_);
      schedule_.enter_forward(next_, !at(next_).unit.is_recomputed);
    }
  }

  void leave_layers(ParameterRange layers) override {
    while (!open_.empty() && parameters(open_.back()).end <= layers.end) leave_unit();
  }

  void begin_backward() override { schedule_.begin_backward(); }

  // Units around all of it begin with it, whatever is computed first.
  void enter_layers_backward(ParameterRange layers) override {
    for (const int unit : units_of(layers.first)) {
      if (!parameters(unit).contains(layers)) return;
      enter_unit_backward(unit);
    }
  }

  void recompute_layers(ParameterRange layers) override {
    std::vector<int> again;
    const auto leave_before = [&](int parameter) {
      for (; !again.empty() && parameters(again.back()).end <= parameter; again.pop_back()) {
        schedule_.leave_forward(again.back(), at(again.back()).unit.has_backward);
      }
    };
    for (int i = layers.first; i < layers.end; ++i) {
      leave_before(i);
      for (const int unit : units_of(i)) {
        if (parameters(unit).first != i || !at(unit).unit.is_recomputed) continue;
        again.push_back(unit);
        schedule_.enter_forward(unit, true);
      }
    }
    leave_before(layers.end);
  }

  void use_parameter(int parameter) override {
    while (!open_.empty() && !parameters(open_.back()).contains(parameter)) leave_unit_backward();
    for (const int unit : units_of(parameter)) enter_unit_backward(unit);
  }

  void keep_gradient(std::int64_t values) override {
    const std::int64_t bytes = bytes_.gathered * values;
    ledger_.move(Holding::kFreshGradients, Holding::kUnitGradients, bytes);
    if (adds_) ledger_.remove(Holding::kUnitGradients, bytes);
  }

  void leave_layers_backward(ParameterRange layers) override {
    while (!open_.empty() && parameters(open_.back()).first >= layers.first) leave_unit_backward();
  }

  void end_backward() override {
    while (!open_.empty()) leave_unit_backward();
    schedule_.end_backward();
    if (!schedule_.requires_sync()) return;
    finish_reduction();
    has_shard_gradients_ = true;
  }

  std::int64_t host_bytes() const override {
    if (!offloads_) return 0;
    // Shards and their gradients.
    return 2 * bytes_.master * shards_.trained_values() + shards_.frozen_bytes() +
           optimizer_state(job_, sizes_).bytes;
  }

 private:
  struct UnderWay {
    Holding input_is = Holding::kReduceInputs;
    std::int64_t input = 0, output = 0, shard = 0;  // bytes, bytes, values
  };

  int unit_count() const { return static_cast<int>(shards_.units.size()); }
  const UnitShard& at(int unit) const { return shards_.units[static_cast<std::size_t>(unit)]; }
  ParameterRange parameters(int unit) const { return at(unit).unit.parameters; }
  const std::vector<int>& units_of(int parameter) const {
    return of_parameter_[static_cast<std::size_t>(parameter)];
  }
  // Flat, as they are reduced.
  std::int64_t gradient_bytes(int unit) const {
    return bytes_.reduced * shards_.group * at(unit).trained;
  }
  // Of the whole unit, and what of a shard takes memory on its way into a gather.
  std::int64_t gathered_bytes(int unit) const {
    // Buffers whose type is the one they are computed with are used where they are.
    const bool is_whole = shards_.group == 1 && !offloads_;
    const UnitShard& shard = at(unit);
    return shards_.group * (bytes_.gathered * shard.trained +
                            (is_whole ? shard.frozen.cast : shard.frozen.gathered));
  }

  std::int64_t gather_input_bytes(int unit) const {
    if (shards_.group == 1) return 0;
    const UnitShard& shard = at(unit);
    if (offloads_) return bytes_.gathered * shard.trained + shard.frozen.gathered;
    return (bytes_.gathered != bytes_.master ? bytes_.gathered * shard.trained : 0) +
           shard.frozen.cast;
  }

  // Of the innermost that is open.
  void leave_unit() {
    const ModelUnit& unit = at(open_.back()).unit;
    schedule_.leave_forward(open_.back(), !unit.is_recomputed && unit.has_backward);
    open_.pop_back();
  }

  // What passes no gradient on ends with the whole of backward.
  void leave_unit_backward() {
    const int unit = open_.back();
    open_.pop_back();
    if (at(unit).unit.passes_gradient) schedule_.leave_backward(unit);
  }

  void enter_unit_backward(int unit) {
    if (std::ranges::find(open_, unit) != open_.end()) return;
    if (!at(unit).unit.has_backward || !schedule_.awaits_backward(unit)) return;
    open_.push_back(unit);
    schedule_.enter_backward(unit);
  }

  void gather(int unit, bool /*ahead*/) override {
    waited_[static_cast<std::size_t>(unit)] = false;
    if (is_resident_) return;
    ledger_.add(gathered_as(unit), gathered_bytes(unit));
    ledger_.add(Holding::kGatherInputs, gather_input_bytes(unit));
    // An offloaded shard is cast on the device.
    const bool is_cast = offloads_ && bytes_.gathered != bytes_.master;
    const std::int64_t before = is_cast ? bytes_.master * at(unit).trained : 0;
    ledger_.add_for_a_moment(Holding::kGatherInputs, before);
  }

  void wait(int unit) override {
    const auto waited = waited_.begin() + unit;
    if (!*waited && !is_resident_) ledger_.remove(Holding::kGatherInputs, gather_input_bytes(unit));
    *waited = true;
  }

  void free(int unit) override {
    drop_retired();
    wait(unit);
    retired_ = unit;
    if (!job_.on_gpu || !schedule_.overlaps_next_gather()) drop_retired();
  }

  void reduce(int unit) override {
    const std::int64_t shard = at(unit).trained;
    if (shard == 0) return;
    finish_reduction();  // of the unit before, as trainer/strategy/fsdp/gradient_reducer
    const bool has_sums = has_sums_[static_cast<std::size_t>(unit)];
    has_sums_[static_cast<std::size_t>(unit)] = false;
    const std::int64_t flat = gradient_bytes(unit);
    UnderWay next{.input_is = has_sums ? Holding::kGradientSums : Holding::kReduceInputs,
                  .output = bytes_.reduced * shard,
                  .shard = shard};
    if (shards_.group > 1) {
      next.input = flat;
      if (!has_sums) ledger_.add(next.input_is, flat);
    } else {
      if (has_sums) ledger_.remove(next.input_is, flat);
      ledger_.add(Holding::kReduceOutputs, flat);
    }
    ledger_.remove(Holding::kUnitGradients, bytes_.gathered * at(unit).unit.trained);
    if (shards_.group > 1) ledger_.add(Holding::kReduceOutputs, next.output);
    under_way_ = next;
  }

  void accumulate(int unit) override {
    if (!bytes_.adds_as_reduced) return;
    const auto index = static_cast<std::size_t>(unit);
    if (!has_sums_[index]) ledger_.add(Holding::kGradientSums, gradient_bytes(unit));
    has_sums_[index] = true;
    ledger_.remove(Holding::kUnitGradients, bytes_.gathered * at(unit).unit.trained);
  }

  void drop_retired() {
    const auto unit = std::exchange(retired_, std::nullopt);
    if (unit && !is_resident_) ledger_.remove(gathered_as(*unit), gathered_bytes(*unit));
  }

  void finish_reduction() {
    if (!under_way_) return;
    const UnderWay ended = *std::exchange(under_way_, std::nullopt);
    ledger_.remove(ended.input_is, ended.input);
    const bool is_cast = bytes_.reduced != bytes_.master;
    if (!offloads_ && !has_shard_gradients_ && !is_cast) {
      ledger_.move(Holding::kReduceOutputs, Holding::kGradients, ended.output);
      return;
    }
    // Cast, it becomes the shard's gradient or is added to it.
    const std::int64_t cast = offloads_ || !is_cast ? 0 : bytes_.master * ended.shard;
    ledger_.add(Holding::kGradients, cast);
    if (has_shard_gradients_) ledger_.remove(Holding::kGradients, cast);
    ledger_.remove(Holding::kReduceOutputs, ended.output);
  }

  const PlannedJob& job_;
  const ModelSizes& sizes_;
  ShardSizes shards_;
  ElementBytes bytes_;
  bool offloads_, is_resident_;
  bool adds_ = false, has_shard_gradients_ = false;
  job::UnitSchedule schedule_;
  std::vector<std::vector<int>> of_parameter_;  // the units around it without the root, outer first
  std::vector<int> open_;                       // under way, without the root, the innermost last
  int next_ = 1;                                // that forward will enter
  std::vector<bool> waited_;                    // by unit, of what is gathered
  std::vector<bool> has_sums_;                  // by unit, over micro-batches before
  // Freed in forward, but a GPU may still compute with it (trainer/strategy/fsdp/shard_streams).
  std::optional<int> retired_;
  std::optional<UnderWay> under_way_;
};

}  // namespace

std::unique_ptr<KeptMemory> unit_memory(const PlannedJob& job, const ModelSizes& sizes,
                                        MemoryLedger& ledger) {
  return std::make_unique<UnitMemory>(job, sizes, ledger);
}

}  // namespace shardlens::trace::predict
