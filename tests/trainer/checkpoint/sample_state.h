// Parameters whose every element says which one it is, as any number of ranks would hold them. For
// tests.
#pragma once

#include <torch/types.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "trainer/checkpoint/sharded_state.h"

namespace shardlens::trainer::test {

struct SampleParameter {
  std::string name;
  std::vector<std::int64_t> sizes;
  bool trained = true;
};

inline std::vector<SampleParameter> sample_parameters() {
  return {{"transformer.wte.weight", {7, 5}},
          {"transformer.h.0.attn.c_attn.weight", {4, 6}},
          {"transformer.h.0.attn.c_attn.bias", {3}, false},
          {"scale", {}},
          {"transformer.ln_f.weight", {11}}};
}

inline std::int64_t numel_of(const SampleParameter& parameter) {
  std::int64_t numel = 1;
  for (const std::int64_t size : parameter.sizes) numel *= size;
  return numel;
}

// Elements [begin, end) of parameter `index`; `slot` 0 is the value, 1 and 2 the moments. `version`
// keeps one save apart from another.
inline torch::Tensor sample_values(std::size_t index, int slot, std::int64_t begin,
                                   std::int64_t end, int version = 0) {
  return torch::arange(begin, end, torch::kFloat32) + 1000.f * static_cast<float>(index + 1) +
         100.f * static_cast<float>(slot) + 0.25f * static_cast<float>(version);
}

inline checkpoint::StatePiece piece_of(const SampleParameter& parameter, std::int64_t begin,
                                       std::int64_t end) {
  checkpoint::StatePiece piece;
  piece.name = parameter.name;
  piece.full_sizes = parameter.sizes;
  piece.begin = begin;
  piece.end = end;
  return piece;
}

// What `rank` of `ranks` holds when the flattened parameters, one after another, are cut evenly.
inline std::vector<checkpoint::StatePiece> sample_pieces(int rank, int ranks, int version = 0) {
  const auto parameters = sample_parameters();
  std::int64_t total = 0;
  for (const SampleParameter& parameter : parameters) total += numel_of(parameter);
  const std::int64_t share = (total + ranks - 1) / ranks;
  std::vector<checkpoint::StatePiece> pieces;
  std::int64_t start = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::int64_t numel = numel_of(parameters[i]);
    const std::int64_t begin = std::clamp<std::int64_t>(rank * share - start, 0, numel);
    const std::int64_t end = std::clamp<std::int64_t>((rank + 1) * share - start, 0, numel);
    start += numel;
    if (begin == end) continue;
    checkpoint::StatePiece piece = piece_of(parameters[i], begin, end);
    piece.value = sample_values(i, 0, begin, end, version);
    if (parameters[i].trained) {
      piece.first_moment = sample_values(i, 1, begin, end, version);
      piece.second_moment = sample_values(i, 2, begin, end, version);
      piece.optimizer_steps = static_cast<double>(i + 1);
    }
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

inline checkpoint::SaveOptions sample_options(std::int64_t step, const std::string& format) {
  checkpoint::SaveOptions options;
  options.info.step = step;
  options.info.format = format;
  options.info.strategy = "full_shard";
  options.info.model = "sample";
  options.info.optimizer = "adamw";
  return options;
}

}  // namespace shardlens::trainer::test
