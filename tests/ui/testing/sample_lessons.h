// Lessons as `app` would publish them, for tests and pictures.
#pragma once

#include <memory>

#include "ui/state/lesson.h"
#include "ui/state/view_preferences.h"

namespace shardlens::ui {

// "Buckets": three pages. The first shows `run` in Tune, asks, and has all kinds of text; the
// second shows what the first does; the third plays it in Inspect. "Beside each other": one page,
// in Compare.
inline std::shared_ptr<const state::LessonShelf> sample_lessons(const char* run = "two_ranks") {
  using Kind = state::LessonParagraph::Kind;
  using Style = state::TextStyle;
  const auto plain = [](const char* text) {
    return state::LessonParagraph{Kind::kText, {{Style::kPlain, text}}};
  };
  state::ViewAddress view;
  view.workspace = state::kTuneWorkspace;
  view.run = run;
  state::Lesson buckets;
  buckets.file = "lessons/1_buckets.md";
  buckets.title = "Buckets, and what overlap is";
  buckets.about = {plain("Gradients travel in buckets while the backward pass goes on.")};
  state::LessonPage first;
  first.title = "Where a bucket begins";
  first.text = {
      {Kind::kText,
       {{Style::kPlain, "A bucket is "},
        {Style::kStrong, "ready"},
        {Style::kPlain, ", and its all-reduce may begin, once the last gradient of "},
        {Style::kCode, "bucket_cap_mb"},
        {Style::kPlain, " was "},
        {Style::kEmphasis, "computed"},
        {Style::kPlain, ". It hides 67 % of its time."}}},
      {Kind::kBullet, {{Style::kPlain, "Look at the lower lane of rank 0."}}},
      {Kind::kCode, {{Style::kCode, "./run --set bucket_cap_mb=4 --ranks 2 --steps 30\n"}}}};
  first.question = "What would one bucket for all of them do?";
  first.answer = {plain("It would wait for the end of the backward pass.")};
  first.view = view;
  state::LessonPage second;
  second.title = "What is exposed";
  second.text = {plain("The orange part is waited for.")};
  state::LessonPage third = second;
  third.title = "Bucket by bucket";
  third.view = view;
  third.view->workspace = state::kInspectWorkspace;
  third.view->tab = "Collectives";
  third.replay_speed = 0.05;
  buckets.pages = {first, second, third};
  state::Lesson beside = buckets;
  beside.title = "Beside each other";
  beside.file = "lessons/2_beside.md";
  second.view = view;
  second.view->workspace = state::kCompareWorkspace;
  second.view->others = {"another"};
  beside.pages = {second};
  state::LessonShelf shelf;
  shelf.lessons = {buckets, beside};
  return std::make_shared<const state::LessonShelf>(shelf);
}

}  // namespace shardlens::ui
