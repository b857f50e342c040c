// A line of JSON Lines as an example. Keys that are not looked for count for nothing. One thread.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "trace/model/result.h"
#include "trainer/text/text_example.h"

namespace shardlens::trainer {

class ExampleParser {
 public:
  ExampleParser();
  ~ExampleParser();

  // `expected`: what the lines before were; absent for the first. The error (kUsage) says what is
  // wrong with the line, without its place: 'has no "completion"'.
  trace::Result<TextExample> parse(std::string_view line, std::optional<TextKind> expected);
  // Whether the last error was a line of JSON that has no key of any kind.
  bool knew_no_key() const { return knew_no_key_; }

 private:
  struct Document;

  std::unique_ptr<Document> document_;
  bool knew_no_key_ = false;
};

}  // namespace shardlens::trainer
