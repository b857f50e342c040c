// The values of a model folder, read range by range: a rank's memory holds what it keeps and a few
// MiB. The training thread.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trace/base/result.h"
#include "trace/job/settings/settings.h"
#include "trace/job/shape/model_shape.h"
#include "trainer/checkpoint/safetensors.h"
#include "trainer/model/layers/parameter_source.h"

namespace shardlens::trainer::huggingface {

class FolderSource final : public model::ParameterSource {
 public:
  // Reads headers only, and checks that the files have what a model of this shape needs. Errors:
  // those of open_weight_files() and match_names().
  static trace::base::Result<FolderSource> open(const std::filesystem::path& folder,
                                                const trace::job::ModelShape& shape);

  // As a job trains it. Error kUsage, too: its head is for other classes than its config.json says,
  // and `num_labels` does not say for how many. `on_piece`: after each few MiB that are read, as
  // all of a model may take long.
  static trace::base::Result<FolderSource> open(const trace::job::Settings& settings,
                                                const trace::job::ModelShape& shape,
                                                std::function<void()> on_piece = nullptr);

  // kIo and kDamaged name the file; kFailed: no such parameter or range.
  trace::base::Result<void> read(const std::string& name, std::int64_t begin,
                                 const torch::Tensor& into) override;

  // A checksum of some values of every tensor, by which other weights of the same model are told.
  // Errors: as read().
  trace::base::Result<std::uint64_t> sample_checksum(std::uint64_t seed);

  // Parameters of a new classifier's head, which the folder does not have.
  const std::vector<std::string>& fresh() const { return fresh_; }
  // The number of classes of the head that the folder has instead; 0: it has none.
  std::int64_t other_classes() const { return other_classes_; }
  // In which most values are stored.
  checkpoint::DataType stored_type() const { return stored_type_; }

 private:
  struct Place {
    std::size_t file = 0;
    checkpoint::TensorEntry tensor;
  };
  FolderSource() = default;
  // Of a matrix that is there twice, tied, both must say the same.
  trace::base::Result<void> check_tied(const trace::job::ModelShape& shape,
                                       const std::filesystem::path& folder);
  trace::base::Result<void> read_place(const Place& place, std::int64_t begin,
                                       const torch::Tensor& into);

  std::vector<checkpoint::SafetensorsFile> files_;
  std::map<std::string, Place> places_;
  std::vector<std::string> fresh_;
  std::int64_t other_classes_ = 0;
  std::optional<Place> tied_head_;  // that is stored besides the embedding
  checkpoint::DataType stored_type_ = checkpoint::DataType::kF32;
  std::function<void()> on_piece_;
};

}  // namespace shardlens::trainer::huggingface
