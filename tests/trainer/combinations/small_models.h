// The models of the generated truth test: small ones of every layout, some of which start from a
// folder. For tests.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "trace/base/file_system.h"
#include "trainer/model/layers/model_shape.h"

namespace shardlens::trainer {

inline constexpr std::int64_t kSmallVocabulary = 61;
inline constexpr std::int64_t kSmallClasses = 3;

// What the setting `model` stands for: a small shape, and where its values are; "": they are drawn.
struct SmallModel {
  model::ModelShape shape;
  std::filesystem::path folder;
};

class SmallModels {
 public:
  SmallModels();  // writes the folders

  // "tiny" and "llama-1b": as these presets, but small; "folders/…": a folder of that family.
  SmallModel find(const std::string& model) const;
  static std::vector<std::string> names();

 private:
  trace::base::TemporaryFolder folder_ = std::move(*trace::base::TemporaryFolder::create());
};

// Numbers of parameters of which the first makes every layer a unit, and the others make units
// within units: attention has a little more than those, the rest of a block alone, too, its MLP
// by itself does not.
std::vector<std::int64_t> smallest_units();

}  // namespace shardlens::trainer
