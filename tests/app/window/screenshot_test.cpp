// Starts itself again under a virtual display: the picture is drawn by the process that a user
// would start.
#include <gtest/gtest.h>
#include <stb_image.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "app/window/window_main.h"
#include "tests/app/session/synthetic_run.h"
#include "trace/analysis/compare/run_difference.h"

namespace shardlens::app::window {
namespace {

struct PictureFile {
  int width = 0, height = 0;
  std::map<int, int> colors;  // how often each occurs

  explicit PictureFile(const std::filesystem::path& file) {
    int channels = 0;
    unsigned char* pixels = stbi_load(file.c_str(), &width, &height, &channels, 3);
    if (pixels == nullptr) return;
    for (int i = 0; i < width * height; ++i) {
      ++colors[pixels[i * 3] << 16 | pixels[i * 3 + 1] << 8 | pixels[i * 3 + 2]];
    }
    stbi_image_free(pixels);
  }
  int most_common() const {
    const auto found = std::max_element(colors.begin(), colors.end(),
                                        [](auto& a, auto& b) { return a.second < b.second; });
    return found == colors.end() ? -1 : found->first;
  }
};

// Under xvfb-run it is this test that draws; see the child test below. Mesa's drivers leak a little
// and are unloaded before the address sanitizer looks, so that no suppression could name them.
int run_child(const std::string& environment) {
  const auto self = std::filesystem::read_symlink("/proc/self/exe").string();
  const auto command = "ASAN_OPTIONS=detect_leaks=0 " + environment + " " + SHARDLENS_XVFB_RUN +
                       " -a '" + self + "' --gtest_filter=ScreenshotChild.* >/dev/null 2>&1";
  return std::system(command.c_str());
}

struct ScreenshotTest : testing::Test {
  session::TemporaryFolder folder;
  std::filesystem::path run;

  void SetUp() override {
    if (std::string(SHARDLENS_XVFB_RUN).ends_with("NOTFOUND")) {
      GTEST_SKIP() << "needs xvfb-run (package xvfb)";
    }
    session::SyntheticRun synthetic(folder.path() / "runs");
    synthetic.add_steps(12);
    synthetic.finish();
    run = synthetic.folder();
  }
  PictureFile draw(const std::string& options) {
    const auto file = folder.path() / "picture.png";
    const int failed = run_child("SHARDLENS_TEST_RUN='" + run.string() +
                                 "' SHARDLENS_TEST_PICTURE='" + file.string() + "' " + options);
    EXPECT_EQ(failed, 0);
    return PictureFile(file);
  }
};

// What the tests below start; does nothing by itself.
TEST(ScreenshotChild, Draws) {
  const char* run = std::getenv("SHARDLENS_TEST_RUN");
  if (run == nullptr) GTEST_SKIP() << "started by the other tests only";
  ScreenshotOptions options;
  options.run = run;
  options.runs_dir = options.run.parent_path();
  options.output = std::getenv("SHARDLENS_TEST_PICTURE");
  if (std::getenv("SHARDLENS_TEST_INSPECT") != nullptr) options.workspace = "inspect";
  if (const char* lesson = std::getenv("SHARDLENS_TEST_LESSON")) {
    options.workspace = "learn";
    options.lessons = {lesson};
    options.run.clear();
  }
  if (std::getenv("SHARDLENS_TEST_LARGE") != nullptr) {
    options.width = 2560;  // larger than xvfb-run's screen
    options.height = 1440;
    options.theme = "light";
    options.scale = 1.5;
  }
  const auto taken = take_screenshot(options);
  EXPECT_TRUE(taken) << taken.error().message;
}

TEST_F(ScreenshotTest, HasTheAskedSizeAndShowsSomething) {
  const auto picture = draw("");
  EXPECT_EQ(picture.width, 1600);
  EXPECT_EQ(picture.height, 1000);
  EXPECT_GT(picture.colors.size(), 100u) << "text and bars bring many shades";
  EXPECT_GT(picture.colors.count(0x2f6fe0), 0u) << "computing";
  EXPECT_GT(picture.colors.count(0xff8a3d), 0u) << "exposed communication";
}

TEST_F(ScreenshotTest, TheInspectWorkspaceShowsTheRunThatWasRead) {
  const auto picture = draw("SHARDLENS_TEST_INSPECT=1");
  EXPECT_EQ(picture.width, 1600);
  EXPECT_GT(picture.colors.count(0x2f6fe0), 0u) << "computing";
  EXPECT_GT(picture.colors.count(0xff8a3d), 0u) << "exposed communication";
  const auto tune = draw("");
  EXPECT_NE(picture.colors, tune.colors);
}

TEST_F(ScreenshotTest, ALessonStandsBesideTheRunOfItsPage) {
  const auto lesson =
      folder.write("lesson.md",
                   "# Buckets\n\nWhat they are.\n\n## One\n\nA page.\n\n```\n./run --view "
                   "'inspect/" +
                       run.filename().string() + "'\n```\n");
  const auto picture = draw("SHARDLENS_TEST_LESSON='" + lesson.string() + "'");
  EXPECT_EQ(picture.width, 1600);
  EXPECT_GT(picture.colors.count(0x2f6fe0), 0u) << "computing";
  EXPECT_GT(picture.colors.count(0xff8a3d), 0u) << "exposed communication";
  EXPECT_NE(picture.colors, draw("SHARDLENS_TEST_INSPECT=1").colors);
}

TEST_F(ScreenshotTest, MayBeLargerThanTheScreenAndLight) {
  const auto picture = draw("SHARDLENS_TEST_LARGE=1");
  EXPECT_EQ(picture.width, 2560);
  EXPECT_EQ(picture.height, 1440);
  EXPECT_GT(picture.most_common() & 0xff, 0xe0) << "a light background";
}

TEST(Screenshot, RefusesBeforeDrawingWhatCannotBeShown) {
  const auto refused = [](const ScreenshotOptions& options, const char* word) {
    const auto taken = take_screenshot(options);
    if (taken) return false;
    EXPECT_NE(taken.error().message.find(word), std::string::npos) << taken.error().message;
    return taken.error().kind == trace::base::ErrorKind::kUsage;
  };
  ScreenshotOptions options;
  options.others = {"/other"};
  EXPECT_TRUE(refused(options, "--workspace compare"));
  options.workspace = "compare";
  options.others.resize(trace::analysis::kMostCompared);
  EXPECT_TRUE(refused(options, "up to"));
  options.others.clear();
  options.run = "/nowhere";
  EXPECT_FALSE(refused(options, "/nowhere")) << "is no wrong use";
  options.workspace = "learn";
  options.lesson = 999;
  EXPECT_TRUE(refused(options, "no lesson 1000"));
}

}  // namespace
}  // namespace shardlens::app::window
