#include "ui/lesson/lesson_reader.h"

#include <utility>

namespace shardlens::ui::lesson {

void LessonReader::take(std::shared_ptr<const state::LessonShelf> shelf) {
  if (shelf == shelf_) return;
  shelf_ = std::move(shelf);
  note_read();
}

const state::Lesson* LessonReader::lesson() const {
  const bool is_there = shelf_ && lesson_ && *lesson_ < shelf_->lessons.size();
  return is_there ? &shelf_->lessons[*lesson_] : nullptr;
}

const state::LessonPage* LessonReader::page() const {
  const state::Lesson* open = lesson();
  return open != nullptr && page_ < open->pages.size() ? &open->pages[page_] : nullptr;
}

bool LessonReader::is_last_page() const {
  return page() != nullptr && page_ + 1 == lesson()->pages.size();
}

bool LessonReader::has_next_lesson() const {
  return lesson() != nullptr && *lesson_ + 1 < shelf_->lessons.size();
}

void LessonReader::note_read() {
  if (is_last_page()) read_.insert(*lesson_);
}

void LessonReader::open(std::size_t lesson, std::size_t page) {
  lesson_ = lesson;
  asked_.reset();
  turn_to(page);
}

void LessonReader::turn_to(std::size_t page) {
  page_ = page;
  shows_answer_ = false;
  note_read();
}

void LessonReader::go_on() {
  if (lesson() == nullptr) {
    if (shelf_ && !shelf_->lessons.empty()) open(0);
  } else if (!is_last_page()) {
    turn_to(page_ + 1);
  } else if (has_next_lesson()) {
    open(*lesson_ + 1);
  } else {
    go_to_shelf();
  }
}

void LessonReader::go_back() {
  if (lesson() == nullptr) return;
  if (page_ == 0) return go_to_shelf();
  turn_to(page_ - 1);
}

std::optional<std::size_t> LessonReader::view_page() const {
  if (page() == nullptr) return {};
  for (std::size_t i = page_ + 1; i > 0; --i) {
    if (lesson()->pages[i - 1].view) return i - 1;
  }
  return {};
}

std::optional<state::GoToView> LessonReader::take_wanted() {
  const auto from = view_page();
  if (!from) return {};
  const Place place{*lesson_, *from};
  if (asked_ == place) return {};
  asked_ = place;
  const state::LessonPage& shown = lesson()->pages[*from];
  return state::GoToView{*shown.view, shown.replay_speed, lesson()->file};
}

}  // namespace shardlens::ui::lesson
