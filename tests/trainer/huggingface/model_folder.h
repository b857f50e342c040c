// Small model folders on disk. For tests.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trace/base/file_system.h"
#include "trace/job/shape/parameter_shapes.h"
#include "trainer/checkpoint/safetensors.h"
#include "trainer/huggingface/weight_files.h"

namespace shardlens::trainer::huggingface {

inline trace::job::ModelShape folder_shape() {
  trace::job::ModelShape shape;
  shape.layers = 2;
  shape.width = 8;
  shape.heads = shape.kv_heads = 2;
  shape.mlp_width = 32;
  shape.vocabulary = 30;
  shape.context = 16;
  return shape;
}

class ModelFolder {
 public:
  const std::filesystem::path& path() const { return folder_.path(); }

  void write(const std::string& file, const std::string& text) const {
    std::ofstream(path() / file, std::ios::binary) << text;
  }
  // Tensors of F32 with the values 0.5, 1.5, … one after another.
  void write_tensors(const std::string& file, std::vector<checkpoint::TensorEntry> entries) const {
    std::vector<std::vector<float>> values;
    float next = 0.5f;
    for (const checkpoint::TensorEntry& entry : entries) {
      std::int64_t numel = 1;
      for (const std::int64_t size : entry.sizes) numel *= size;
      std::vector<float>& list = values.emplace_back();
      for (std::int64_t i = 0; i < numel; ++i) list.push_back(next++);
    }
    std::vector<checkpoint::TensorBytes> tensors;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      tensors.push_back({entries[i], std::as_bytes(std::span(values[i]))});
    }
    ASSERT_TRUE(checkpoint::write_safetensors(path() / file, tensors, {}));
  }
  void write_model(const trace::job::ModelShape& shape) const {
    std::vector<checkpoint::TensorEntry> entries;
    for (const auto& each : trace::job::parameter_shapes(shape)) {
      entries.push_back({each.name, checkpoint::DataType::kF32, each.sizes});
    }
    write_tensors(kWeightsFile, entries);
  }

 private:
  trace::base::TemporaryFolder folder_ = std::move(*trace::base::TemporaryFolder::create());
};

}  // namespace shardlens::trainer::huggingface
