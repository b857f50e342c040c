#include "trainer/text/example_parser.h"

#include <simdjson.h>

namespace shardlens::trainer {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::element_type;
using simdjson::dom::object;

struct ExampleParser::Document {
  simdjson::dom::parser parser;
};

namespace {

tl::unexpected<trace::Error> bad(std::string what) {
  return trace::fail(trace::ErrorKind::kUsage, std::move(what));
}

std::string quoted(std::string_view key) { return "\"" + std::string(key) + "\""; }

bool has(const object& line, std::string_view key) {
  return line.at_key(key).error() == simdjson::SUCCESS;
}

// By the keys that tell kinds apart; without any of them nothing.
std::optional<TextKind> kind_of(const object& line) {
  if (has(line, "messages")) return TextKind::kChat;
  if (has(line, "prompt") || has(line, "completion")) return TextKind::kCompletion;
  if (has(line, "label")) return TextKind::kLabeled;
  if (has(line, "text")) return TextKind::kPlain;
  return std::nullopt;
}

trace::Result<std::string> text_of(const object& line, std::string_view key) {
  element value;
  if (line.at_key(key).get(value) != simdjson::SUCCESS) {
    return bad(quoted(key) + " is missing");
  }
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) return bad(quoted(key) + " is not a string");
  return std::string(text);
}

trace::Result<TextLabel> label_of(const object& line) {
  element value;
  if (line.at_key("label").get(value) != simdjson::SUCCESS) return bad("\"label\" is missing");
  std::string_view name;
  if (value.get(name) == simdjson::SUCCESS) return TextLabel(std::string(name));
  std::int64_t number = 0;
  if (value.get(number) != simdjson::SUCCESS) {
    return bad("\"label\" is neither an integer nor a string");
  }
  if (number < 0) return bad("\"label\" is " + std::to_string(number) + "; classes begin at 0");
  return TextLabel(number);
}

trace::Result<std::string> messages_of(const object& line) {
  element value;
  if (line.at_key("messages").get(value) != simdjson::SUCCESS) {
    return bad("\"messages\" is missing");
  }
  array messages;
  if (value.get(messages) != simdjson::SUCCESS) return bad("\"messages\" is not a list");
  if (messages.size() == 0) return bad("\"messages\" is empty");
  for (const element message : messages) {
    std::string_view role;
    if (message["role"].get(role) != simdjson::SUCCESS) {
      return bad("a message is not an object with a string \"role\"");
    }
  }
  return simdjson::minify(messages);
}

// Fills in what an example of its kind has.
trace::Result<void> read_keys(const object& keys, TextExample& example) {
  switch (example.kind) {
    case TextKind::kLabeled: {
      TRY_ASSIGN(example.label, label_of(keys));
      TRY_ASSIGN(example.text, text_of(keys, "text"));
      break;
    }
    case TextKind::kPlain: {
      TRY_ASSIGN(example.text, text_of(keys, "text"));
      break;
    }
    case TextKind::kCompletion: {
      TRY_ASSIGN(example.prompt, text_of(keys, "prompt"));
      TRY_ASSIGN(example.completion, text_of(keys, "completion"));
      break;
    }
    case TextKind::kChat: {
      TRY_ASSIGN(example.messages, messages_of(keys));
      break;
    }
  }
  return {};
}

}  // namespace

std::string_view to_string(TextKind kind) {
  switch (kind) {
    case TextKind::kPlain:
      return "text";
    case TextKind::kCompletion:
      return "prompt and completion";
    case TextKind::kChat:
      return "messages";
    case TextKind::kLabeled:
      return "text and label";
  }
  return "";
}

ExampleParser::ExampleParser() : document_(std::make_unique<Document>()) {}
ExampleParser::~ExampleParser() = default;

trace::Result<TextExample> ExampleParser::parse(std::string_view line,
                                                std::optional<TextKind> expected) {
  knew_no_key_ = false;
  element root;
  const auto error = document_->parser.parse(line.data(), line.size()).get(root);
  if (error == simdjson::UTF8_ERROR) return bad("is not UTF-8");
  if (error != simdjson::SUCCESS) {
    return bad(std::string("is not one JSON object: ") + simdjson::error_message(error));
  }
  object keys;
  if (root.get(keys) != simdjson::SUCCESS) return bad("is JSON, but not an object");
  const auto kind = kind_of(keys);
  knew_no_key_ = !kind;
  if (!kind) {
    return bad(
        "has none of the keys \"text\"; \"prompt\" and \"completion\"; \"messages\"; "
        "\"text\" and \"label\"");
  }
  TextExample example;
  example.kind = *kind;
  // A plain line among labelled ones has only lost its label.
  if (expected == TextKind::kLabeled && kind == TextKind::kPlain) {
    return bad("\"label\" is missing");
  }
  if (expected && expected != kind) {
    return bad("has " + std::string(to_string(*kind)) + ", but the lines before have " +
               std::string(to_string(*expected)) + "; one data set has one kind");
  }
  TRY(read_keys(keys, example));
  return example;
}

}  // namespace shardlens::trainer
