#include "trace/tuning/layer_moments.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string_view>

#include "trace/job/shape/lora.h"
#include "trace/job/shape/parameter_shapes.h"
#include "trace/predict/sizes/model_units.h"

namespace shardlens::trace::tuning {

using predict::MicroBatchWork;
using predict::Moment;
using predict::OrderedLayer;

namespace {

Moment between(const Moment& from, const Moment& to, double share) {
  const auto at = [&](std::int64_t a, std::int64_t b) {
    return a + std::llround(share * static_cast<double>(b - a));
  };
  return {at(from.computed_ns, to.computed_ns), at(from.contended_ns, to.contended_ns)};
}

// "h.3.attn.bias" of "h.3.attn.lora_A.bias": the matrix that an adapter is beside.
std::string adapted(std::string parameter) {
  for (const std::string_view factor : {".lora_A", ".lora_B"}) {
    if (const auto at = parameter.rfind(factor); at != parameter.npos) {
      return parameter.erase(at, factor.size());
    }
  }
  return parameter;
}

// Moments at all places, of which some are known: between two of them by what is done there. Known
// ones that contradict those before them are left out; of several at a place the first counts.
template <typename Known>
std::vector<Moment> fill_between(std::vector<Known> known, const std::vector<double>& done) {
  std::ranges::stable_sort(known, {}, &Known::place);
  const Moment last = std::ranges::find(known, done.size() - 1, &Known::place)->moment;
  std::vector<Moment> moments(done.size());
  Known before = known.front();
  moments[before.place] = before.moment;
  for (const Known& next : known) {
    const bool is_end = next.place + 1 == done.size();
    const Moment moment = is_end ? last : next.moment;
    if (next.place <= before.place || (!is_end && (moment.computed_ns < before.moment.computed_ns ||
                                                   moment.computed_ns > last.computed_ns))) {
      continue;
    }
    const double all = done[next.place] - done[before.place];
    for (std::size_t place = before.place + 1; place <= next.place; ++place) {
      const double share = all > 0 ? (done[place] - done[before.place]) / all : 0;
      moments[place] = place == next.place ? moment : between(before.moment, moment, share);
    }
    before = {next.place, moment};
  }
  return moments;
}

// Autograd gives a product's bias its gradient before the weight, but a norm's after it, and where
// autocast casts both: GPT-2 multiplies by addmm, which has the bias first.
bool comes_weight_first(const std::vector<const job::ParameterShape*>& of_layer,
                        const predict::PlannedJob& job) {
  const bool is_norm = !of_layer.empty() && of_layer.front()->sizes.size() == 1;
  const bool is_cast = job.settings.precision != job::Precision::kFp32;
  return is_norm || (is_cast && job.shape.layout != job::ModelLayout::kGpt2);
}

}  // namespace

LayerClock::LayerClock(const predict::PlannedJob& job, const std::vector<std::string>& gradients,
                       bool has_units)
    : layers_(predict::layer_order(job)), forward_done_{0} {
  for (const OrderedLayer& layer : layers_) {
    forward_done_.push_back(forward_done_.back() + layer.forward);
  }
  std::map<std::string, std::size_t> places;
  const auto parameters = job::parameter_shapes(job.shape);
  std::size_t block_begin = 0;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const OrderedLayer& layer = layers_[i];
    for (int each = layer.parameters.first; each < layer.parameters.end; ++each) {
      places[parameters[static_cast<std::size_t>(each)].name] = backward_place(i);
    }
    if (i > 0 && layer.block != layers_[i - 1].block) block_begin = i;
    if (layer.what != OrderedLayer::What::kSecondForward) continue;
    blocks_.push_back(layer.block);
    const bool was = predict::is_recomputed(job.settings, layer.block);
    second_forwards_.push_back({block_begin, i, was, was});
  }
  for (const std::string& gradient : gradients) {
    const auto found = places.find(adapted(gradient));
    const bool is_known = found != places.end();
    gradient_places_.push_back(is_known ? std::optional(found->second) : std::nullopt);
  }
  if (!has_units) return;
  are_blocks_ = job.settings.wrap_policy == job::WrapPolicy::kTransformerBlock;
  const auto sizes = predict::model_sizes(job.shape, job.settings);
  for (const auto& unit : predict::model_units(job.shape, job.settings, sizes)) {
    units_.push_back({predict::layers_of(unit, layers_), unit.passes_gradient});
  }
}

// What is done between moments that are known goes by operations: each layer counts the same.
LayerClock::LayerClock(std::size_t units)
    : layers_(units + 1), forward_done_{0}, units_{{{0, units + 1}}}, are_blocks_(true) {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    layers_[i].forward = layers_[i].backward = 1;
    forward_done_.push_back(static_cast<double>(i + 1));
  }
  for (std::size_t unit = 1; unit < units; ++unit) units_.push_back({{unit, unit + 1}});
}

std::vector<std::size_t> LayerClock::gradient_places() const {
  std::vector<std::size_t> places;
  for (const auto& place : gradient_places_) {
    if (!place) return {};
    places.push_back(*place);
  }
  return places;
}

std::vector<predict::SecondForward> LayerClock::second_forwards(const job::Settings& next) const {
  auto seconds = second_forwards_;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    seconds[i].is = predict::is_recomputed(next, blocks_[i]);
  }
  return seconds;
}

auto LayerClock::known_forwards(const MicroBatchWork& work) const -> std::vector<Known> {
  std::vector<Known> known{{0, work.forward_begin}, {layers_.size(), work.backward_begin}};
  if (work.forwards.size() + 1 != units_.size()) return known;
  for (const auto& forward : work.forwards) {
    known.push_back({units_[static_cast<std::size_t>(forward.unit)].layers.first, forward.begin});
  }
  if (!are_blocks_ || work.forwards.size() < 2) return known;
  // The end of the last one nobody tells: it takes as long as the one before.
  const Moment &last = work.forwards.back().begin, &before = (work.forwards.rbegin() + 1)->begin;
  known.push_back(
      {units_.back().layers.end,
       {2 * last.computed_ns - before.computed_ns, 2 * last.contended_ns - before.contended_ns}});
  return known;
}

auto LayerClock::known_backwards(const MicroBatchWork& work) const -> std::vector<Known> {
  std::vector<Known> known{{0, work.backward_begin}, {layers_.size(), work.end}};
  if (work.backwards.size() + 1 == units_.size()) {
    for (const auto& backward : work.backwards) {
      const RecordedUnit& unit = units_[static_cast<std::size_t>(backward.unit)];
      if (unit.passes_gradient) known.push_back({backward_place(unit.layers.first), backward.end});
    }
  }
  // A layer has several: the last of them ends it.
  const bool has_gradients = work.gradients.size() == gradient_places_.size();
  for (std::size_t i = has_gradients ? work.gradients.size() : 0; i-- > 0;) {
    if (const auto place = gradient_places_[i]) known.push_back({*place, work.gradients[i]});
  }
  // Where gradients do not tell the end of what comes before it, the first block's begin may be a
  // guess.
  if (are_blocks_ && work.backwards.size() + 1 == units_.size() && !work.backwards.empty()) {
    known.push_back({backward_place(units_.back().layers.end), work.backwards.front().begin});
  }
  return known;
}

// By place: what backward has done. An operation of a second forward takes as long as one of the
// first, which is another time than one of backward takes.
std::vector<double> LayerClock::backward_done(const MicroBatchWork& work) const {
  const auto length = [](const Moment& from, const Moment& to) {
    return static_cast<double>(to.computed_ns - from.computed_ns);
  };
  double backward = 0, again = 0;
  for (const OrderedLayer& layer : layers_) {
    const bool is_again = layer.what == OrderedLayer::What::kSecondForward;
    (is_again ? again : backward) += layer.backward;
  }
  const double forward_pace =
      length(work.forward_begin, work.backward_begin) / forward_done_.back();
  const double left = length(work.backward_begin, work.end) - again * forward_pace;
  const double pace = left > 0 && backward > 0 ? left / backward : forward_pace;
  std::vector<double> done{0};
  for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
    const bool is_again = layer->what == OrderedLayer::What::kSecondForward;
    done.push_back(done.back() + (is_again ? forward_pace : pace) * layer->backward);
  }
  return done;
}

// Within the time of a second forward as the first one went.
std::vector<Moment> LayerClock::second_forwards(const predict::LayerMoments& moments) const {
  std::vector<Moment> again(moments.forwards.size());
  for (const predict::SecondForward& block : second_forwards_) {
    if (!block.was) continue;
    const auto& forwards = moments.forwards;
    const std::int64_t from = forwards[block.first].computed_ns;
    const auto all = static_cast<double>(forwards[block.end].computed_ns - from);
    const Moment& begin = moments.backwards[backward_place(block.end + 1)];
    const Moment& end = moments.backwards[backward_place(block.end)];
    for (std::size_t layer = block.first; layer <= block.end; ++layer) {
      const auto done = static_cast<double>(forwards[layer].computed_ns - from);
      again[layer] = between(begin, end, all > 0 ? done / all : 0);
    }
    again[block.end] = end;
  }
  return again;
}

void LayerClock::fill(MicroBatchWork& work) const {
  work.layers.forwards = fill_between(known_forwards(work), forward_done_);
  work.layers.backwards = fill_between(known_backwards(work), backward_done(work));
  if (std::ranges::none_of(second_forwards_, &predict::SecondForward::was)) return;
  work.layers.second_forwards = second_forwards(work.layers);
}

std::vector<predict::RecordedSteps::Gradient> gradients_backwards(const predict::PlannedJob& job) {
  const bool is_adapted = job.settings.lora_rank > 0;
  std::map<std::string, std::vector<predict::RecordedSteps::Gradient>> beside;  // each weight
  for (const auto& each : job::saved_parameters(job.shape, job.settings)) {
    const bool is_frozen = each.block >= 0 && each.block < job.settings.frozen_blocks;
    if (!is_adapted && is_frozen) continue;
    beside[adapted(each.name)].push_back({each.name, 4 * each.numel()});
  }
  std::vector<predict::RecordedSteps::Gradient> gradients;
  const auto parameters = job::parameter_shapes(job.shape);
  for (const OrderedLayer& layer : predict::layer_order(job)) {
    std::vector<const job::ParameterShape*> of_layer;
    for (int each = layer.parameters.first; each < layer.parameters.end; ++each) {
      of_layer.push_back(&parameters[static_cast<std::size_t>(each)]);
    }
    if (comes_weight_first(of_layer, job)) std::ranges::reverse(of_layer);
    for (const job::ParameterShape* each : of_layer) {
      std::ranges::copy(beside[each->name], std::back_inserter(gradients));
    }
  }
  std::ranges::reverse(gradients);
  return gradients;
}

}  // namespace shardlens::trace::tuning
