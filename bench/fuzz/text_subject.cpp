// What is learnt from: text, JSON Lines, prompts, conversations, labels.
#include "bench/fuzz/subject.h"
#include "trainer/text/load_text.h"

namespace shardlens::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 6> kGood{
    R"({"text": "some words é \u00e9 \ud83d\ude00"})",
    R"({"prompt": "what?", "completion": "that"})",
    R"({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]})",
    R"({"text": "fine", "label": 1})",
    R"({"text": "fine", "label": "good"})",
    "plain words, é, and more of them"};

class TextSubject final : public Subject {
 public:
  std::string_view name() const override { return "text"; }
  int weight() const override { return 2; }  // each starts Python
  void damage(Mutation& mutation, const fs::path& input) override {
    const std::string good(mutation.pick(kGood));
    const bool is_json = good.front() == '{' || mutation.one_in(8);
    options_ = {};
    options_.preparation.completion_only_loss = mutation.one_in(2);
    options_.preparation.skip_bad_lines = mutation.one_in(2);
    const std::size_t files = 1 + mutation.below(2);
    for (std::size_t i = 0; i < files; ++i) {
      std::string text = good + "\n";
      for (std::size_t line = mutation.below(4); line > 0; --line) {
        text += mutation.json(good) + "\n";
      }
      const fs::path file = input / ("data" + std::to_string(i) + (is_json ? ".jsonl" : ".txt"));
      write_text_file(file, mutation.one_in(8) ? mutation.bytes(std::move(text)) : text);
      if (mutation.one_in(200)) mutation.replace_file(file);
      options_.data = file;
    }
    if (files > 1) options_.data = input;
  }

  void read(const fs::path&, const fs::path&, Findings& findings) override {
    const auto text = trainer::text::load_text(options_, {});
    if (!findings.check(text)) {
      if (text.error().message.find("data") == std::string::npos) {
        findings.add("an error without the file's name: " + text.error().message);
      }
      return;
    }
    if (text->examples() < 1) findings.add("a text without examples was accepted");
    if (text->begin(text->examples()) != text->tokens()) findings.add("examples are not the text");
  }

 private:
  trainer::text::TextOptions options_;
};

}  // namespace

std::unique_ptr<Subject> text_subject() { return std::make_unique<TextSubject>(); }

}  // namespace shardlens::bench
