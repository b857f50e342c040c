// Reading the files of a tokenizer. Any thread.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "trace/model/result.h"
#include "trainer/tokenizer/definition.h"

namespace shardlens::trainer {

// Errors: kForeign for more than a gigabyte, kIo.
trace::Result<std::string> read_tokenizer_file(const std::filesystem::path& file);

// A parsed JSON file, with what its values refer to. May not be moved while they are used.
class DefinitionFile {
 public:
  // kDamaged, with `name` in front.
  static trace::Result<std::unique_ptr<DefinitionFile>> parse(std::string_view json,
                                                              const std::string& name);
  Definition root() const { return Definition(root_, ""); }

 private:
  simdjson::dom::parser parser_;
  simdjson::dom::element root_;
};

}  // namespace shardlens::trainer
