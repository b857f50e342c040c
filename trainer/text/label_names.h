// What a classifier's folder calls its classes. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "trace/base/result.h"

namespace shardlens::trainer::text {

// `label2id` of the folder's config.json. Empty: none there, or only the names LABEL_0, LABEL_1, …
// that transformers gives to classes without names. Errors: kDamaged for what is no such map.
trace::base::Result<std::map<std::string, std::int64_t>> read_label_numbers(
    const std::filesystem::path& model_folder);

}  // namespace shardlens::trainer::text
