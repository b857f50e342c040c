// How the conversations of a data set become text: by the model's own chat template, or in ChatML
// for models without a folder. The main thread.
#pragma once

#include <string>

#include "trace/model/settings.h"
#include "trainer/text/text_encoder.h"

namespace shardlens::trainer {

struct Conversations {
  ConversationRenderer render;
  std::string fingerprint;  // equal for renderers that give equal texts
};

// Never fails: what is wrong with a folder's template is what every conversation says, so that data
// without conversations needs none.
Conversations conversations_of(const trace::Settings& settings);

}  // namespace shardlens::trainer
