// Where one is in the lessons, and which view that asks for. Free of ImGui; interface thread only.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>

#include "ui/state/commands.h"
#include "ui/state/lesson.h"

namespace shardlens::ui::lesson {

class LessonReader {
 public:
  // In each frame; null: they are being read.
  void take(std::shared_ptr<const state::LessonShelf> shelf);
  const state::LessonShelf* shelf() const { return shelf_.get(); }

  // Null: one looks at the shelf.
  const state::Lesson* lesson() const;
  const state::LessonPage* page() const;
  std::size_t lesson_index() const { return lesson_.value_or(0); }
  std::size_t page_index() const { return page_; }
  bool is_last_page() const;
  bool has_next_lesson() const;
  // To its last page, since the window opened.
  bool was_read(std::size_t lesson) const { return read_.contains(lesson); }

  // Also before the lessons have been read.
  void open(std::size_t lesson, std::size_t page = 0);
  void turn_to(std::size_t page);  // of the same lesson
  void go_to_shelf() { lesson_.reset(); }
  // A page; behind the last one the next lesson begins, or the shelf comes. From there to the
  // first.
  void go_on();
  void go_back();  // before the first page is the shelf

  bool shows_answer() const { return shows_answer_; }
  void show_answer(bool shows) { shows_answer_ = shows; }

  // The page, or one before it, names a view.
  bool has_view() const { return view_page().has_value(); }
  void show_view_again() { asked_.reset(); }
  // What is to be shown now; once, until another view's turn comes or it is to be shown again.
  std::optional<state::GoToView> take_wanted();

 private:
  struct Place {
    std::size_t lesson = 0, page = 0;
    bool operator==(const Place&) const = default;
  };

  std::optional<std::size_t> view_page() const;
  void note_read();

  std::shared_ptr<const state::LessonShelf> shelf_;
  std::optional<std::size_t> lesson_;
  std::size_t page_ = 0;
  bool shows_answer_ = false;
  std::set<std::size_t> read_;
  std::optional<Place> asked_;  // whose view was asked for last
};

}  // namespace shardlens::ui::lesson
