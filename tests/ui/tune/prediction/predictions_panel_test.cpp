// All predictions so far, one click from the ledger.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ui/testing/headless_window.h"
#include "tests/ui/testing/probe_texts.h"
#include "tests/ui/testing/sample_snapshot.h"

namespace shardlens::ui::tune {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class PredictionsPanelTest : public ::testing::Test {
 protected:
  std::vector<std::string> texts_after_click() {
    window_.frames(snapshot_, 3);
    EXPECT_TRUE(window_.click(snapshot_, "dock/Predictions"));
    window_.frames(snapshot_, 3);
    return texts_in(window_.probe(), {0, 0, 1920, 1200});
  }

  HeadlessWindow window_{1920, 1200};
  state::Snapshot snapshot_ = sample_snapshot({.live = false});
};

TEST_F(PredictionsPanelTest, IsOneClickFromTheLedger) {
  auto ledger = *snapshot_.ledger;
  auto& row = ledger.rows[1];
  row.status = trace::model::RunStatus::kDone;
  row.summary.step_ns.mean = 98e6;
  row.predicted = trace::model::StepPrediction{100e6, 97e6, 103e6, "base"};
  snapshot_.ledger = std::make_shared<const state::Ledger>(ledger);
  const auto shown = texts_after_click();
  EXPECT_THAT(shown, Contains("1 prediction made before the run, and measured."));
  EXPECT_THAT(shown, Contains(HasSubstr("1 of 1 measured step times lie within")));
  EXPECT_THAT(shown, Contains("Predicted ↑ against measured →"));
  EXPECT_THAT(shown, Contains(row.ordinal));
}

TEST_F(PredictionsPanelTest, SaysWhatToDoWithoutOne) {
  auto ledger = *snapshot_.ledger;
  for (auto& row : ledger.rows) row.predicted.reset();
  snapshot_.ledger = std::make_shared<const state::Ledger>(ledger);
  EXPECT_THAT(texts_after_click(), Contains(HasSubstr("press Start")));
}

}  // namespace
}  // namespace shardlens::ui::tune
