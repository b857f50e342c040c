// A lesson: pages of text, each beside a view that follows it. Plain values, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ui/state/view_address.h"

namespace shardlens::ui::state {

enum class TextStyle : std::uint8_t { kPlain, kStrong, kEmphasis, kCode };

// Characters of one style, of any number of words; a word may be of several.
struct StyledText {
  TextStyle style = TextStyle::kPlain;
  std::string text;

  bool operator==(const StyledText&) const = default;
};

struct LessonParagraph {
  enum class Kind : std::uint8_t { kText, kBullet, kCode } kind = Kind::kText;
  std::vector<StyledText> runs;  // of kCode one, with its line breaks

  bool operator==(const LessonParagraph&) const = default;
};

struct LessonPage {
  std::string title;
  std::vector<LessonParagraph> text;
  std::string question;                 // "": the page asks nothing
  std::vector<LessonParagraph> answer;  // folded until the reader asks for it
  // What is shown beside it; none: what the page before shows stays.
  std::optional<ViewAddress> view;
  double replay_speed = 0;  // times as fast as the run was; 0: it is not played

  bool operator==(const LessonPage&) const = default;
};

struct Lesson {
  std::string file;                    // it was read from
  std::string title;                   // "Buckets, and what overlap is"
  std::vector<LessonParagraph> about;  // before its first page: for the table of contents
  std::vector<LessonPage> pages;       // at least one

  bool operator==(const Lesson&) const = default;
};

struct LessonShelf {
  std::vector<Lesson> lessons;
  std::vector<std::string> problems;  // "buckets.md:12: …", of files that could not be used
};

}  // namespace shardlens::ui::state
