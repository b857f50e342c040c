// What a run trains and evaluates on, as batches of tokens. Immutable; any thread.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trace/base/result.h"
#include "trace/job/settings/settings.h"
#include "trainer/data/sample_view.h"
#include "trainer/model/layers/token_batch.h"
#include "trainer/text/image/encoded_text.h"

namespace shardlens::trainer::data {

// What a data set has to know of the model and of the tokenizer.
struct DatasetTraits {
  std::int64_t vocabulary = 0;  // the model's
  std::int64_t classes = 0;     // that it tells apart; 0: it is a language model
  std::int64_t padding_token = 0;
};

class TokenDataset {
 public:
  // Samples [0, training_samples()) are trained on. Those after them are for evaluation: all of
  // `evaluation` if there is one, else the last evaluation_fraction of `text`. Plain text is packed
  // into full blocks, the rest padded, unless `packing` says otherwise.
  // Errors (kUsage): too little for one step on every rank, nothing to evaluate on although
  // evaluation is asked for, tokens or classes that the model does not have, labels for a language
  // model or none for a classifier.
  static trace::base::Result<TokenDataset> create(text::EncodedText text,
                                                  std::optional<text::EncodedText> evaluation,
                                                  const trace::job::Settings& settings,
                                                  const DatasetTraits& traits, int world_size);

  std::int64_t training_samples() const { return training_samples_; }
  std::int64_t evaluation_samples() const { return samples() - training_samples_; }
  std::int64_t samples() const;
  bool is_packed() const { return training_.is_packed(); }
  std::int64_t vocabulary() const { return traits_.vocabulary; }  // the model's
  bool is_classification() const { return traits_.classes > 0; }
  // Of the training data's classes, in order of their numbers; empty: they have none.
  const std::vector<std::string>& label_names() const { return training_.text().label_names(); }

  // Packed samples are [rows, sequence_length]. Others are padded at their ends to the longest,
  // rounded up to a multiple of 8 (tensor cores want it, and a GPU sees fewer shapes) but never
  // above sequence_length. Targets of padding and of tokens that do not count are ignored.
  model::TokenBatch batch(std::span<const std::int64_t> samples) const;
  // One sample of which nothing counts, for a rank that has run out of data.
  model::TokenBatch stand_in() const;
  // Of a batch of this sample alone, from the index, without making one.
  std::int64_t counted_targets(std::int64_t sample) const;

  // What a person should know of how the text became samples: one line each.
  std::vector<std::string> notes() const;
  // Of what is held out for evaluation, from its first sample on.
  std::uint64_t held_out_checksum() const;
  // To find ranks that read different texts.
  std::int64_t checksum() const;
  std::int64_t token_count() const;

 private:
  TokenDataset(SampleView training, std::optional<SampleView> evaluation,
               const DatasetTraits& traits, std::int64_t length)
      : training_(std::move(training)),
        evaluation_(std::move(evaluation)),
        traits_(traits),
        length_(length) {}
  trace::base::Result<void> split(const trace::job::Settings& settings, int world_size);
  const SampleView& view_of(std::int64_t& sample) const;
  std::int64_t width_of(std::span<const std::int64_t> samples) const;
  void fill_row(std::int64_t sample, std::int64_t row, model::TokenBatch& batch) const;

  SampleView training_;
  std::optional<SampleView> evaluation_;
  DatasetTraits traits_;
  std::int64_t length_;
  std::int64_t training_samples_ = 0;
};

}  // namespace shardlens::trainer::data
