#include <gtest/gtest.h>

#include <random>

#include "tests/trainer/text/text_files.h"
#include "trainer/text/byte_tokenizer.h"
#include "trainer/text/chatml.h"
#include "trainer/text/load_text.h"

namespace shardlens::trainer {
namespace {

const std::string kGood[] = {
    R"({"text": "some words é \u00e9 \ud83d\ude00"})",
    R"({"prompt": "what?", "completion": "that"})",
    R"({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]})",
    R"({"text": "fine", "label": 1})",
    R"({"text": "fine", "label": "good"})",
};

// Bytes changed, taken out, put in or repeated.
std::string mutated(std::string line, std::mt19937& random) {
  const auto below = [&](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
  };
  for (std::size_t changes = 1 + below(4); changes > 0 && !line.empty(); --changes) {
    const std::size_t at = below(line.size());
    switch (below(5)) {
      case 0:
        line[at] = static_cast<char>(below(256));
        break;
      case 1:
        line.erase(at, 1 + below(8));
        break;
      case 2:
        line.insert(at, 1, "{}[]\",:\\0\n\x80"[below(11)]);
        break;
      case 3:
        line.insert(at, line.substr(at, 1 + below(20)));
        break;
      default:
        line.insert(at, std::string(1 + below(3000), below(2) == 0 ? '[' : '9'));
    }
  }
  return line;
}

// Whatever is in the file: text, or an error that names the file; with good lines among it and
// leave to skip the others, at least those are learnt.
TEST(JsonLinesFuzz, EveryFileGivesTextOrAnErrorWithItsName) {
  const TextFiles files;
  std::mt19937 random(7);
  int refused = 0, used = 0;
  for (int i = 0; i < 600; ++i) {
    const std::string& good = kGood[random() % std::size(kGood)];
    TextOptions options;
    options.encoding.render = render_chatml;
    options.skip_bad_lines = i % 2 == 0;
    std::string content = options.skip_bad_lines ? good + "\n" : "";
    for (int line = 0; line < 4; ++line) content += mutated(good, random) + "\n";
    options.data = files.write("data.jsonl", content);
    const auto text = load_text(options, ByteTokenizer(), {});
    if (text) {
      ++used;
      EXPECT_GE(text->examples(), 1);
      EXPECT_EQ(text->begin(text->examples()), text->tokens());
    } else {
      ++refused;
      EXPECT_FALSE(options.skip_bad_lines) << text.error().message << "\n" << content;
      EXPECT_NE(text.error().message.find(options.data), std::string::npos);
    }
  }
  EXPECT_GT(refused, 200);
  EXPECT_GT(used, 200);
}

}  // namespace
}  // namespace shardlens::trainer
