#include "trace/tuning/unit_moments.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "trace/job/shape/loss_chunks.h"
#include "trace/job/shape/model_shape.h"
#include "trace/predict/sizes/model_sizes.h"

namespace shardlens::trace::tuning {

using predict::MicroBatchWork;
using predict::Moment;

namespace {

// "transformer.h.3.attn.bias" is of block 3; −1: of none.
std::int64_t block_of(std::string_view parameter) {
  while (!parameter.empty()) {
    const std::string_view part = parameter.substr(0, parameter.find('.'));
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error == std::errc() && end == part.data() + part.size()) return number;
    parameter.remove_prefix(std::min(part.size() + 1, parameter.size()));
  }
  return -1;
}

Moment between(const Moment& from, const Moment& to, double share) {
  const auto at = [&](std::int64_t a, std::int64_t b) {
    return a + std::llround(share * static_cast<double>(b - a));
  };
  return {at(from.computed_ns, to.computed_ns), at(from.contended_ns, to.contended_ns)};
}

void fill_forward(const UnitMoments& moments, MicroBatchWork& work) {
  for (std::size_t block = 0; block < moments.blocks; ++block) {
    const double share = static_cast<double>(block) * moments.block_share;
    work.forwards.push_back(
        {static_cast<int>(block) + 1, between(work.forward_begin, work.backward_begin, share)});
  }
}

// The end of each block's backward, by its last gradient; the head's lies before the first.
std::vector<Moment> ends_by_gradients(const UnitMoments& moments, const MicroBatchWork& work) {
  std::vector<Moment> ends(moments.blocks);
  if (moments.blocks_of_gradients.size() != work.gradients.size()) return {};
  for (std::size_t i = 0; i < work.gradients.size(); ++i) {
    const std::int64_t block = moments.blocks_of_gradients[i];
    if (block >= 0 && block < static_cast<std::int64_t>(ends.size())) {
      ends[static_cast<std::size_t>(block)] = work.gradients[i];
    }
  }
  const bool is_whole =
      std::ranges::is_sorted(ends, std::greater{}, &Moment::computed_ns) &&
      std::ranges::none_of(ends, [](const Moment& end) { return end == Moment{}; });
  return is_whole ? ends : std::vector<Moment>{};
}

void fill_backward(const UnitMoments& moments, MicroBatchWork& work) {
  const double head =
      std::max(0.0, 1 - static_cast<double>(moments.blocks) * moments.backward_share);
  auto ends = ends_by_gradients(moments, work);
  if (ends.empty()) {
    for (std::size_t block = 0; block < moments.blocks; ++block) {
      const double done = static_cast<double>(moments.blocks - block) * moments.backward_share;
      ends.push_back(between(work.backward_begin, work.end, head + done));
    }
  }
  Moment begin = between(work.backward_begin, work.end, head);
  if (begin.computed_ns > ends.back().computed_ns) begin = ends.back();
  for (std::size_t block = moments.blocks; block-- > 0;) {
    work.backwards.push_back({static_cast<int>(block) + 1, begin, ends[block]});
    begin = ends[block];
  }
}

// Each chunk's backward comes right behind its forward.
bool computes_loss_in_chunks(const predict::PlannedJob& job) {
  const std::int64_t tokens = job.settings.batch_per_rank * job.sequence();
  return job::loss_chunk_tokens(job.settings, job.shape, tokens) > 0;
}

}  // namespace

UnitMoments unit_moments(const predict::PlannedJob& job,
                         const std::vector<std::string>& parameters) {
  UnitMoments moments{.blocks = static_cast<std::size_t>(job.shape.layers)};
  job::ModelShape no_block = job.shape;
  no_block.layers = 0;
  const auto all = static_cast<double>(job::flops_per_token(job.shape, job.sequence()));
  const auto rest = static_cast<double>(job::flops_per_token(no_block, job.sequence()));
  if (moments.blocks > 0 && all > 0) {
    // The head's backward has twice the operations of its forward.
    const bool has_head = !computes_loss_in_chunks(job);
    const double forward = has_head ? all : all + 2 * rest, backward = has_head ? all : all - rest;
    const double of_block = (all - rest) / static_cast<double>(moments.blocks);
    moments.block_share = of_block / forward;
    moments.backward_share = of_block / backward;
  }
  for (const std::string& parameter : parameters) {
    moments.blocks_of_gradients.push_back(block_of(parameter));
  }
  return moments;
}

std::vector<predict::RecordedSteps::Gradient> gradients_backwards(const predict::PlannedJob& job) {
  const auto sizes = predict::model_sizes(job.shape, job.settings);
  if (sizes.is_adapted || sizes.frozen_layers > 0) return {};
  std::vector<predict::RecordedSteps::Gradient> gradients;
  const auto add = [&](int first, int end, const std::string& prefix) {
    for (int i = first; i < end; ++i) {
      const auto& parameter = sizes.parameters[static_cast<std::size_t>(i)];
      gradients.push_back({prefix + parameter.name, 4 * parameter.values});
    }
  };
  add(0, sizes.one_block.first, "");
  for (std::int64_t block = 0; block < sizes.layers; ++block) {
    add(sizes.one_block.first, sizes.one_block.end, std::to_string(block) + ".");
  }
  add(sizes.one_block.end, static_cast<int>(sizes.parameters.size()), "");
  std::ranges::reverse(gradients);
  return gradients;
}

void fill_unit_moments(const UnitMoments& moments, MicroBatchWork& work) {
  if (moments.blocks == 0) return;
  if (work.forwards.empty()) fill_forward(moments, work);
  if (work.backwards.empty()) fill_backward(moments, work);
}

}  // namespace shardlens::trace::tuning
