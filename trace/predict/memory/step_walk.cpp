#include "trace/predict/memory/step_walk.h"

#include <algorithm>
#include <numeric>

#include "trace/job/shape/strategy.h"
#include "trace/predict/layers/block_backward.h"
#include "trace/predict/layers/layer_order.h"
#include "trace/predict/sizes/layer_sizes.h"
#include "trace/predict/sizes/planned_job.h"

namespace shardlens::trace::predict {

namespace {

constexpr std::int64_t kTokenBytes = 2 * 8;          // input and target, int64
constexpr std::int64_t kMultiplyingThreads = 2;      // forward's and autograd's
constexpr std::int64_t kGeneratorStateBytes = 5056;  // of at::CPUGeneratorImpl

using Part = StepPlace::Part;

std::int64_t saved_by_embeddings(const PlannedJob& job) {
  if (job.settings.lora_rank > 0) return 0;  // they are frozen
  const LayerSizes sizes = layer_sizes(job);
  if (job::is_encoder(job.shape.layout)) return encoder_embeddings_memory(sizes);
  if (job.settings.dropout <= 0 || job.shape.layout != job::ModelLayout::kGpt2) return 0;
  return job.on_gpu ? sizes.dropout_mask : sizes.residual;
}

}  // namespace

StepWalk::StepWalk(const PlannedJob& job)
    : job_(job),
      sizes_(model_sizes(job.shape, job.settings)),
      flow_(sizes_),
      trained_block_(block_memory(job, sizes_.is_adapted)),
      frozen_block_(block_memory(job, true)),
      head_(head_memory(job)),
      gradient_bytes_(element_bytes(job.settings).gathered),
      saved_by_embeddings_(saved_by_embeddings(job)),
      spared_(spared_by_first_block(job)),
      kept_(kept_memory(job, sizes_, ledger_)) {}

const MemoryLedger& StepWalk::run() {
  const bool has_units = job::strategy_traits(job_.settings.sharding_strategy).has_units;
  const bool always_reduces = job_.settings.sync_each_batch;
  kept_->hold_at_rest();
  ledger_.add(Holding::kBatch, job_.tokens() * kTokenBytes);
  if (job_.on_gpu) ledger_.add(Holding::kWorkspaces, kMultiplyingThreads * job_.workspace_bytes);
  // All micro-batches between the first and the last are as the second.
  const std::int64_t micro_batches =
      std::min<std::int64_t>(job_.settings.gradient_accumulation_steps, 3);
  for (std::int64_t i = 0; i < micro_batches; ++i) {
    const bool reduces = always_reduces || i + 1 == micro_batches;
    kept_->begin_forward(reduces, i > 0 && !(has_units && always_reduces));
    forward();
    backward();
  }
  return ledger_;
}

void StepWalk::forward() {
  kept_->enter_layers(sizes_.before_blocks());
  ledger_.add(Holding::kSavedByHead, saved_by_embeddings_);
  kept_->leave_layers(sizes_.before_blocks());
  for (std::int64_t i = 0; i < sizes_.layers; ++i) forward_block(i);
  forward_head();
  ledger_.remove_all(Holding::kCastWeights);
}

void StepWalk::forward_block(std::int64_t index) {
  const LayerMemory& layer = block(index);
  ledger_.enter({Part::kForward, index});
  kept_->enter_layers(sizes_.block_parameters(index));
  if (!has_backward(index)) {
    ledger_.add_for_a_moment(Holding::kFlowing, layer.unsaved_scratch);
  } else if (is_recomputed(job_.settings, index)) {
    ledger_.add(Holding::kSavedInputs,
                layer.input_bytes + (job_.on_gpu ? 0 : kGeneratorStateBytes));
    // The cache of casts lasts to the end of forward, and takes none of frozen weights.
    const bool is_frozen = sizes_.is_adapted || index < sizes_.frozen_layers;
    ledger_.add(Holding::kCastWeights, is_frozen ? 0 : layer.cast_weights);
    ledger_.add_for_a_moment(Holding::kFlowing, layer.unsaved_scratch);
  } else {
    ledger_.add(Holding::kSavedByBlocks, saved_bytes(layer, index));
    ledger_.add_for_a_moment(Holding::kFlowing, layer.forward_scratch);
  }
  kept_->leave_layers(sizes_.block_parameters(index));
}

void StepWalk::forward_head() {
  ledger_.enter({Part::kHead, kRootBlock});
  kept_->enter_layers(sizes_.final_norm_parameters());
  kept_->leave_layers(sizes_.final_norm_parameters());
  kept_->enter_layers(sizes_.head_parameters());
  ledger_.add(Holding::kSavedByHead, head_.layer.saved_bytes());
  ledger_.add_for_a_moment(Holding::kFlowing, head_.layer.forward_scratch);
  kept_->leave_layers(sizes_.head_parameters());
}

void StepWalk::backward() {
  kept_->begin_backward();
  backward_head();
  for (std::int64_t i = sizes_.layers - 1; i >= 0; --i) backward_block(i);
  backward_embeddings();
  kept_->end_backward();
}

void StepWalk::run(const BackwardOperator& op, Holding saved, std::int64_t fresh) {
  ledger_.add(Holding::kFlowing, op.made + op.scratch);
  ledger_.add(Holding::kFreshGradients, gradient_bytes_ * fresh);
  ledger_.remove(Holding::kFlowing, op.scratch + op.consumed);
  ledger_.remove(saved, op.released);
}

void StepWalk::backward_head() {
  const auto& operators = head_.layer.backward;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const bool is_head = i == head_.head_operator, is_norm = operators[i].parameters > 0;
    if (is_head) use_layers(sizes_.head_parameters());
    if (is_norm) use_layers(sizes_.final_norm_parameters());
    const std::int64_t own = is_head ? sizes_.head : (is_norm ? sizes_.final_norm : 0);
    const std::int64_t fresh = sizes_.is_adapted ? 0 : own;
    run(operators[i], Holding::kSavedByHead, fresh);
    if (is_head && fresh > 0 && job_.shape.tied_head) {
      ledger_.move(Holding::kFreshGradients, Holding::kTiedGradient, gradient_bytes_ * fresh);
    } else if (fresh > 0) {
      kept_->keep_gradient(fresh);
    }
  }
}

void StepWalk::backward_block(std::int64_t index) {
  if (!has_backward(index)) return;
  const LayerMemory& layer = block(index);
  ledger_.enter({Part::kBackward, index});
  const ParameterRange parameters = sizes_.block_parameters(index);
  kept_->enter_layers_backward(parameters);
  const bool again = is_recomputed(job_.settings, index);
  // The block's output, and its input if the block itself does not save it.
  const std::int64_t held_meanwhile = (layer.saves_input ? 1 : 2) * layer.input_bytes;
  if (again) {
    kept_->recompute_layers(parameters);
    ledger_.remove(Holding::kSavedInputs,
                   layer.input_bytes + (job_.on_gpu ? 0 : kGeneratorStateBytes));
    ledger_.add(Holding::kSavedByBlocks, saved_bytes(layer, index));
    ledger_.add(Holding::kFlowing, held_meanwhile);
  }
  for (const BackwardOperator& op : layer.backward) {
    if (op.layer_parameter >= 0) {
      kept_->use_parameter(parameters.first + op.layer_parameter);
    }
    run_block_operator(op);
    // Who asked for the recomputation holds it to the end.
    if (again && op.ends_output_gradient) ledger_.add(Holding::kFlowing, layer.input_bytes);
  }
  // The first norm had not kept it.
  ledger_.add(Holding::kSavedByBlocks, spared(index));
  if (again) ledger_.remove(Holding::kFlowing, held_meanwhile + layer.input_bytes);
  kept_->leave_layers_backward(parameters);
}

void StepWalk::run_block_operator(const BackwardOperator& op) {
  const auto& parameters = sizes_.is_adapted ? sizes_.block_adapters : sizes_.block;
  const auto first = parameters.begin() + op.first_parameter;
  const std::int64_t fresh = std::accumulate(first, first + op.parameters, std::int64_t{0});
  run(op, Holding::kSavedByBlocks, fresh);
  if (fresh > 0) kept_->keep_gradient(fresh);
}

void StepWalk::backward_embeddings() {
  ledger_.enter({Part::kBackward, kRootBlock});
  if (sizes_.is_adapted) {
    // The first adapter's input needs no gradient.
    run({.consumed = ledger_.held(Holding::kFlowing), .released = saved_by_embeddings_},
        Holding::kSavedByHead, 0);
    return;
  }
  use_layers(sizes_.before_blocks());
  add_embedding_gradients();
}

void StepWalk::add_embedding_gradients() {
  const std::int64_t flowing = ledger_.held(Holding::kFlowing);
  run({.consumed = sizes_.positions > 0 ? 0 : flowing, .released = saved_by_embeddings_},
      Holding::kSavedByHead, sizes_.embedding);
  if (job_.shape.tied_head) {
    const std::int64_t sum = head_.gradient_is_added_to ? 0 : gradient_bytes_ * sizes_.embedding;
    ledger_.add_for_a_moment(Holding::kFreshGradients, sum);
    ledger_.remove_all(Holding::kTiedGradient);
  }
  kept_->keep_gradient(sizes_.embedding);
  if (sizes_.positions > 0) {
    run({.consumed = flowing}, Holding::kSavedByHead, sizes_.positions);
    kept_->keep_gradient(sizes_.positions);
  }
}

// In backward, which comes to the last first.
void StepWalk::use_layers(ParameterRange layers) {
  for (int i = layers.end; i-- > layers.first;) kept_->use_parameter(i);
}

}  // namespace shardlens::trace::predict
