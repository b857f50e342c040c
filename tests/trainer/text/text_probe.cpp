// Prepares texts as ranks do: each line of the standard input is a request in JSON, answered with a
// line. For tokenizer_truth.py, chat_truth.py and measuring.
//   {"data", "tokenizer", "chat", "completion_only_loss", "python", "seconds", "memory", "cache"}
//     gives {"kind", "examples": [{"tokens", "mask", "label"}], "end", "padding"} or {"error"}
//   {"data", …, "count": true} gives {"tokens", "seconds"} only
//   {"tokenizer", "decode": [tokens]} gives {"text"} or {"error"}
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include "trainer/text/load_text.h"

namespace shardlens::trainer::text {
namespace {

using Json = nlohmann::json;

TextOptions options_of(const Json& request) {
  TextOptions options;
  options.data = request.value("data", "");
  options.preparation.tokenizer = request.value("tokenizer", "");
  options.preparation.chat = request.value("chat", "");
  options.preparation.completion_only_loss = request.value("completion_only_loss", true);
  options.preparation.skip_bad_lines = request.value("skip_bad_lines", false);
  options.program.python = request.value("python", "");
  options.program.patience = std::chrono::seconds(request.value("seconds", 60));
  options.program.most_memory_bytes = request.value("memory", options.program.most_memory_bytes);
  options.cache_folder = request.value("cache", "");
  return options;
}

Json examples_of(const EncodedText& text) {
  Json examples = Json::array();
  for (std::int64_t i = 0; i < text.examples(); ++i) {
    const std::int64_t begin = text.begin(i), count = text.begin(i + 1) - begin;
    std::vector<std::int64_t> tokens(static_cast<std::size_t>(count));
    text.copy(begin, count, tokens.data());
    std::string mask;
    for (std::int64_t t = begin; t < begin + count; ++t) mask += text.counts(t) ? '1' : '0';
    examples.push_back({{"tokens", tokens}, {"mask", mask}});
    if (text.kind() == TextKind::kLabeled) examples.back()["label"] = text.label(i);
  }
  return examples;
}

trace::base::Result<Json> answer(const Json& request) {
  const TextOptions options = options_of(request);
  if (request.contains("decode")) {
    TextDecoder decoder(options.preparation.tokenizer, options.program);
    TRY_ASSIGN(const std::string text,
               decoder.decode(request["decode"].get<std::vector<TokenId>>()));
    return Json{{"text", text}};
  }
  const auto begin = std::chrono::steady_clock::now();
  TRY_ASSIGN(const EncodedText text,
             load_text(options, [](const std::string& message) { std::cerr << message << "\n"; }));
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  if (request.value("count", false)) {
    return Json{{"tokens", text.tokens()}, {"seconds", taken.count()}};
  }
  return Json{{"kind", static_cast<int>(text.kind())},
              {"examples", examples_of(text)},
              {"bad_lines", text.bad_lines()},
              {"crossed", text.encoding_counts().crossed_boundaries},
              {"end", text.end_of_text()},
              {"padding", text.padding()}};
}

}  // namespace
}  // namespace shardlens::trainer::text

int main() {
  using Json = nlohmann::json;
  for (std::string line; std::getline(std::cin, line);) {
    const auto result = shardlens::trainer::text::answer(Json::parse(line));
    const Json reply = result ? *result : Json{{"error", result.error().message}};
    std::cout << reply.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
  }
}
