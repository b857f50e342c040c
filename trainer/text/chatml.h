// Conversations in ChatML, for models without a chat template of their own. Any thread.
#pragma once

#include <string_view>

#include "trace/model/result.h"
#include "trainer/text/text_encoder.h"

namespace shardlens::trainer {

inline constexpr std::string_view kChatmlFingerprint = "chatml 1";

// Each message as "<|im_start|>role\ncontent<|im_end|>\n". An answer is the content of an
// assistant's message with its <|im_end|>, so that the model learns when to stop. Error kUsage: a
// content that is not a string.
trace::Result<ConversationText> render_chatml(std::string_view messages);

}  // namespace shardlens::trainer
