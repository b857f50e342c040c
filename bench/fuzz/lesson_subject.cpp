// Markdown of lessons.
#include <array>
#include <string_view>

#include "app/lessons/lesson_file.h"
#include "bench/fuzz/subject.h"

namespace shardlens::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLesson = R"(# Buckets, and *what* overlap is

What it is about, with [a link](https://example.org).

## Backward begins at the last layer

```
./run --view 'inspect/a.shardlens?tab=Memory&shown_ns=0..1200000&step=3'
./run replay a.shardlens --speed 0.2
```

Text with **strong *words***, `code` and <!-- a comment --> \* more.

- an entry
- another

1. a number

<details><summary>Why?</summary>

Because of 251.3 ms.

</details>

## The last bucket

```sh
./run run --ranks 2
```
)";

// What Markdown is made of, where bytes alone would seldom meet.
constexpr std::array<std::string_view, 12> kPieces{"\n\n## P\n\n",
                                                   "\n```\n",
                                                   "./run --view 'tune/a?set=bucket_cap_mb=1'\n",
                                                   "<details>",
                                                   "</details>\n\n",
                                                   "<summary>",
                                                   "![p](q)",
                                                   "> ",
                                                   "  - ",
                                                   "| a | b |\n|---|---|\n",
                                                   "<!--",
                                                   "\r"};

class LessonSubject final : public Subject {
 public:
  std::string_view name() const override { return "lessons"; }
  int weight() const override { return 8; }

  void damage(Mutation& mutation, const fs::path& input) override {
    file_ = input / "lesson.md";
    std::string text(kLesson);
    for (std::size_t i = mutation.below(4); i > 0; --i) {
      const std::string_view piece = mutation.pick(kPieces);
      text.insert(mutation.below(text.size()), piece);
    }
    write_text_file(file_, mutation.one_in(2) ? mutation.bytes(text) : text);
    if (mutation.one_in(100)) mutation.replace_file(file_);
  }

  void read(const fs::path& input, const fs::path&, Findings& findings) override {
    const auto lesson = app::lessons::read_lesson(file_);
    if (findings.check(lesson) && (lesson->title.empty() || lesson->pages.empty())) {
      findings.add("a lesson without a title or a page was read");
    }
    const auto shelf = app::lessons::read_lessons({input});
    if (shelf.lessons.size() != (lesson ? 1U : 0U)) {
      findings.add("a shelf has other lessons than its folder");
    }
  }

 private:
  fs::path file_;
};

}  // namespace

std::unique_ptr<Subject> lesson_subject() { return std::make_unique<LessonSubject>(); }

}  // namespace shardlens::bench
