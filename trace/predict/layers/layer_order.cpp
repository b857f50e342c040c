#include "trace/predict/layers/layer_order.h"

#include <algorithm>
#include <string>
#include <utility>

#include "trace/job/shape/lora.h"
#include "trace/job/shape/parameter_shapes.h"
#include "trace/predict/layers/layer_memory.h"
#include "trace/predict/sizes/model_sizes.h"

namespace shardlens::trace::predict {

namespace {

using LayerKind = OrderedLayer::What;

class LayerList {
 public:
  explicit LayerList(const PlannedJob& job)
      : job_(job),
        sizes_(model_sizes(job.shape, job.settings)),
        flow_(sizes_),
        parameters_(job::parameter_shapes(job.shape)) {}

  std::vector<OrderedLayer> list() {
    add_range(sizes_.before_blocks());
    // Forward adds the table of types to words before that of positions.
    if (job::is_encoder(job_.shape.layout)) std::swap(layers_[1], layers_[2]);
    const std::vector<int> in_block = firsts_in_block();
    for (std::int64_t block = 0; block < sizes_.layers; ++block) add_block(block, in_block);
    add_range(sizes_.final_norm_parameters());
    const std::size_t head = layers_.size();
    add_range(sizes_.head_parameters());
    if (head == layers_.size()) layers_.push_back(tied_head());
    // Each chunk's backward comes right behind its forward.
    if (job_.loss_chunk() > 0) {
      for (std::size_t i = head; i < layers_.size(); ++i) {
        layers_[i].forward += std::exchange(layers_[i].backward, 0);
      }
    }
    return std::move(layers_);
  }

 private:
  // A block's layers as forward comes to them, by their first parameters within it.
  std::vector<int> firsts_in_block() const {
    std::vector<int> firsts;
    for (const BackwardOperator& op : block_memory(job_, sizes_.is_adapted).backward) {
      const bool is_known = std::ranges::find(firsts, op.layer_parameter) != firsts.end();
      if (op.layer_parameter >= 0 && !is_known) firsts.push_back(op.layer_parameter);
    }
    std::ranges::reverse(firsts);
    return firsts;
  }

  void add_block(std::int64_t block, const std::vector<int>& firsts) {
    const ParameterRange range = sizes_.block_parameters(block);
    double forward = 0;
    for (const int first : firsts) {
      const OrderedLayer layer = layer_at(range.first + first, range.end);
      if (job::is_behind_attention(job::layer_of(name(layer.parameters.first)))) {
        layers_.push_back(attention(block, flow_.goes_on_from(layer.parameters.first)));
        forward += layers_.back().forward;
      }
      layers_.push_back(layer);
      forward += layer.forward;
    }
    if (!flow_.comes_to(range)) return;
    const bool is_again = is_recomputed(job_.settings, block);
    layers_.push_back(
        {LayerKind::kSecondForward, {range.end, range.end}, block, 0, is_again ? forward : 0});
  }

  void add_range(ParameterRange range) {
    for (int i = range.first; i < range.end; i = layers_.back().parameters.end) {
      layers_.push_back(layer_at(i, range.end));
    }
  }

  // That of the module that owns the parameter, its first.
  OrderedLayer layer_at(int first, int most) const {
    OrderedLayer layer{.parameters = {first, first}, .block = sizes_.block_of(first)};
    int& end = layer.parameters.end;
    for (; end < most && job::layer_of(name(end)) == job::layer_of(name(first)); ++end) {
      add_operations(end, layer);
    }
    return layer;
  }

  // A product and, in backward, one for each of the gradients that are needed; adapters likewise.
  void add_operations(int parameter, OrderedLayer& layer) const {
    const job::ParameterShape& shape = parameters_[static_cast<std::size_t>(parameter)];
    const bool is_tied = job_.shape.tied_head && parameter == 0;  // used by the head
    if (is_tied || job::is_lookup_table(job_.shape, shape)) return;
    const auto values = static_cast<double>(shape.numel());
    const auto trains = static_cast<double>(sizes_.trained(parameter));
    const bool has_adapters = sizes_.is_adapted && !job::is_trained_head(shape.name);
    layer.forward += 2 * (values + (has_adapters ? trains : 0));
    layer.backward += (has_adapters ? 4 : 2) * trains;
    if (flow_.goes_on_from(parameter)) {
      layer.backward += 2 * values;
    } else if (has_adapters && trains > 0) {
      layer.backward -=
          2 * static_cast<double>(job_.settings.lora_rank * job::input_width(job_.shape, shape));
    }
  }

  OrderedLayer attention(std::int64_t block, bool has_backward) const {
    const auto scores = 4 * static_cast<double>(job_.shape.attention_width() * job_.sequence());
    const int end = sizes_.block_parameters(block).end;
    return {LayerKind::kOther, {end, end}, block, scores, has_backward ? 2 * scores : 0};
  }

  // The product with the embedding, which is no module of its own.
  OrderedLayer tied_head() const {
    OrderedLayer layer{LayerKind::kOther, {sizes_.parameter_count(), sizes_.parameter_count()}};
    const auto values = static_cast<double>(sizes_.head);
    layer.forward = 2 * values;
    layer.backward = (sizes_.trained(0) > 0 ? 4 : 2) * values;
    return layer;
  }

  const std::string& name(int parameter) const {
    return parameters_[static_cast<std::size_t>(parameter)].name;
  }

  const PlannedJob& job_;
  ModelSizes sizes_;
  GradientFlow flow_;
  std::vector<job::ParameterShape> parameters_;
  std::vector<OrderedLayer> layers_;
};

}  // namespace

std::vector<OrderedLayer> layer_order(const PlannedJob& job) { return LayerList(job).list(); }

LayerSpan layers_of(const ModelUnit& unit, const std::vector<OrderedLayer>& order) {
  LayerSpan span{order.size(), 0};
  std::size_t block_begin = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const OrderedLayer& layer = order[i];
    if (i > 0 && layer.block != order[i - 1].block) block_begin = i;
    const bool is_again = layer.what == LayerKind::kSecondForward;
    const bool holds_block = span.first <= block_begin && span.end == i;
    const bool is_own =
        layer.what == LayerKind::kModule && unit.parameters.contains(layer.parameters);
    if (!is_own && !(is_again && holds_block)) continue;
    span = {std::min(span.first, i), i + 1};
  }
  return span;
}

bool is_recomputed(const job::Settings& settings, std::int64_t block) {
  const std::int64_t every = settings.activation_checkpointing;
  return every > 0 && block >= 0 && block % every == 0;
}

}  // namespace shardlens::trace::predict
