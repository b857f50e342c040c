// Orders, filters, widths and CSV of tables.
#include "ui/present/table_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "ui/table/table_tools.h"

namespace shardlens::ui::inspect {

namespace {

using testing::ElementsAre;
using Kind = present::TableColumn::Kind;

struct ModelRow {
  std::string name;
  double value;
};

std::shared_ptr<present::Table> table_of(const std::vector<ModelRow>& given) {
  const auto rows = std::make_shared<const std::vector<ModelRow>>(given);
  auto table = std::make_shared<present::Table>();
  table->id = "test";
  table->rows = rows->size();
  table->data = rows;
  present::TableColumn name;
  name.title = "Name";
  name.csv_title = "name";
  name.kind = Kind::kCode;
  name.width = 100;
  name.wish = 300;
  name.priority = 10;
  name.cell = [rows](std::size_t row) {
    present::TableCell cell;
    cell.text = (*rows)[row].name;
    return cell;
  };
  present::TableColumn value;
  value.title = "Value";
  value.csv_title = "value_ns";
  value.width = 80;
  value.priority = 5;
  value.number = [rows](std::size_t row) { return (*rows)[row].value; };
  value.cell = [rows](std::size_t row) {
    present::TableCell cell;
    cell.text = std::to_string((*rows)[row].value);
    cell.unit = "ns";
    return cell;
  };
  table->columns = {name, value};
  return table;
}

const double kNone = std::numeric_limits<double>::quiet_NaN();

TEST(TableOrder, SortsNumbersInBothDirectionsAndWhatHasNoneLast) {
  const auto table = table_of({{"a", 3}, {"b", kNone}, {"c", 1}, {"d", 2}, {"e", kNone}});
  EXPECT_THAT(present::table_order(*table, {"Value", false}, ""), ElementsAre(2, 3, 0, 1, 4));
  EXPECT_THAT(present::table_order(*table, {"Value", true}, ""), ElementsAre(0, 3, 2, 1, 4));
}

TEST(TableOrder, IsTheTablesOwnUntilItIsSorted) {
  const auto table = table_of({{"a", 1}, {"b", 2}, {"b", 2}});
  EXPECT_THAT(present::table_order(*table, {}, ""), ElementsAre(0, 1, 2));
  EXPECT_THAT(present::table_order(*table, {"no such column", true}, ""), ElementsAre(0, 1, 2));
  table->order = {2, 0, 1};
  EXPECT_THAT(present::table_order(*table, {}, ""), ElementsAre(2, 0, 1));
  EXPECT_THAT(present::table_order(*table, {}, "b"), ElementsAre(2, 1));
  EXPECT_THAT(present::table_order(*table, {"Value", true}, ""), ElementsAre(2, 1, 0));
}

TEST(TableOrder, SortsTextsWhateverTheirCaseAndEmptyOnesLast) {
  const auto table = table_of({{"beta", 0}, {"Alpha", 0}, {"", 0}, {"gamma", 0}});
  EXPECT_THAT(present::table_order(*table, {"Name", false}, ""), ElementsAre(1, 0, 3, 2));
  EXPECT_THAT(present::table_order(*table, {"Name", true}, ""), ElementsAre(3, 0, 1, 2));
}

TEST(TableOrder, IsThatOfAPlainSortForAnyNumbers) {
  std::mt19937 random(3);
  std::vector<ModelRow> rows;
  for (int i = 0; i < 3000; ++i) {
    rows.push_back({"row", random() % 9 == 0 ? kNone : static_cast<double>(random() % 500)});
  }
  const auto table = table_of(rows);
  for (const bool descending : {false, true}) {
    const auto order = present::table_order(*table, {"Value", descending}, "");
    ASSERT_EQ(order.size(), rows.size());
    for (std::size_t i = 1; i < order.size(); ++i) {
      const double before = rows[order[i - 1]].value, after = rows[order[i]].value;
      if (std::isnan(after)) continue;
      ASSERT_FALSE(std::isnan(before));
      ASSERT_TRUE(descending ? before >= after : before <= after);
      if (before == after) {
        ASSERT_LT(order[i - 1], order[i]) << "equal ones keep their order";
      }
    }
  }
}

TEST(TableFilter, WantsEveryWordWhateverTheCase) {
  const auto table =
      table_of({{"ncclDevKernel_AllGather", 1}, {"gemm_bf16", 2}, {"ncclDevKernel_Reduce", 3}});
  EXPECT_THAT(present::table_order(*table, {}, "NCCL"), ElementsAre(0, 2));
  EXPECT_THAT(present::table_order(*table, {}, "  nccl   gather "), ElementsAre(0));
  EXPECT_THAT(present::table_order(*table, {}, "nothing"), ElementsAre());
  EXPECT_THAT(present::table_order(*table, {}, "2"), ElementsAre()) << "figures are no words";
}

TEST(TableSortBy, BeginsWithTheGreatestFigureAndTheFirstText) {
  const auto table = table_of({});
  const present::TableSort by_value = present::next_sort({}, table->columns[1]);
  EXPECT_EQ(by_value, (present::TableSort{"Value", true}));
  EXPECT_EQ(present::next_sort(by_value, table->columns[1]), (present::TableSort{"Value", false}));
  EXPECT_EQ(present::next_sort(by_value, table->columns[0]), (present::TableSort{"Name", false}));
}

TEST(TableSortBy, IsTakenBackByTheThirdClick) {
  const auto table = table_of({});
  for (const present::TableColumn& column : table->columns) {
    const present::TableSort once = present::next_sort({}, column);
    const present::TableSort twice = present::next_sort(once, column);
    EXPECT_EQ(twice, (present::TableSort{column.title, !once.descending}));
    EXPECT_EQ(present::next_sort(twice, column), present::TableSort{}) << column.title;
  }
}

// Reads CSV as RFC 4180 says, without a look at how it is written.
std::vector<std::vector<std::string>> parse_csv(std::string_view text) {
  std::vector<std::vector<std::string>> records(1, std::vector<std::string>(1));
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string& field = records.back().back();
    if (quoted) {
      if (text[i] != '"') {
        field += text[i];
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        field += text[i++];
      } else {
        quoted = false;
      }
    } else if (text[i] == '"') {
      quoted = true;
    } else if (text[i] == ',') {
      records.back().emplace_back();
    } else if (text.substr(i, 2) == "\r\n") {
      ++i;
      if (i + 1 < text.size()) records.emplace_back(1);
    } else {
      field += text[i];
    }
  }
  return records;
}

TEST(TableCsv, IsReadBackAsItWasWhateverIsInTheNames) {
  const std::vector<ModelRow> rows{{"plain", 402'100'000},
                                   {"void f<4, float>(int)", 0.125},
                                   {"says \"no\"", -3},
                                   {"two\r\nlines", kNone},
                                   {"", 1e300},
                                   {"größer · 三", 9'007'199'254'740'991}};
  const auto table = table_of(rows);
  const auto records = parse_csv(present::csv_of(*table, present::table_order(*table, {}, "")));
  ASSERT_EQ(records.size(), rows.size() + 1);
  EXPECT_THAT(records[0], ElementsAre("name", "value_ns"));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(records[i + 1].size(), 2u);
    EXPECT_EQ(records[i + 1][0], rows[i].name);
    if (std::isnan(rows[i].value)) {
      EXPECT_EQ(records[i + 1][1], "");
    } else {
      EXPECT_EQ(std::stod(records[i + 1][1]), rows[i].value);
    }
  }
}

TEST(TableCsv, QuotesOnlyWhatMustBeAndEndsLinesWithCrLf) {
  EXPECT_EQ(present::csv_field("gemm"), "gemm");
  EXPECT_EQ(present::csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(present::csv_field("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(present::csv_field("a\nb"), "\"a\nb\"");
  const auto table = table_of({{"x", 402'100'000}});
  EXPECT_EQ(present::csv_of(*table, {0}), "name,value_ns\r\nx,402100000\r\n");
}

TEST(TableCsv, LeavesOutColumnsThatAreNoData) {
  const auto table = table_of({{"x", 1}});
  table->columns[0].csv_title.clear();
  EXPECT_EQ(present::csv_of(*table, {0}), "value_ns\r\n1\r\n");
}

TEST(TableRowText, IsWhatStandsOnScreen) {
  const auto table = table_of({{"gemm", 1}});
  EXPECT_EQ(present::row_text(*table, 0), "gemm\t1.000000 ns");
}

TEST(TableColumns, FillTheWidthAndNeverOverlap) {
  const auto table = table_of({});
  for (const float width : {60.0f, 150.0f, 200.0f, 333.0f, 900.0f}) {
    const auto placed = present::place_columns(*table, width, false);
    ASSERT_FALSE(placed.empty());
    EXPECT_EQ(placed.front().column, 0u) << "the name goes last";
    EXPECT_LE(placed.back().x + placed.back().width, width + 0.5f);
    for (std::size_t i = 1; i < placed.size(); ++i) {
      EXPECT_FLOAT_EQ(placed[i].x, placed[i - 1].x + placed[i - 1].width);
    }
  }
  EXPECT_EQ(present::place_columns(*table, 150, false).size(), 1u);
  EXPECT_EQ(present::place_columns(*table, 150, true).size(), 2u) << "scrolled instead";
  const auto wide = present::place_columns(*table, 900, false);
  EXPECT_FLOAT_EQ(wide.back().x + wide.back().width, 900);
}

TEST(TableColumns, ShowTheirNumbersAndNothingWhereNoneIsKnown) {
  const auto table = table_of({{"a", 2'000'000}, {"b", kNone}});
  present::TableColumn& value = table->columns.back();
  value.show_numbers([](double ns) { return present::format_duration(ns); });
  EXPECT_EQ(value.cell(0).text, "2.00");
  EXPECT_EQ(value.cell(0).unit, "ms");
  EXPECT_EQ(value.cell(1).text, "");
  EXPECT_EQ(value.cell(1).unit, "");
  EXPECT_TRUE(present::has_numbers(*table, value));
  const auto unknown = table_of({{"a", kNone}, {"b", kNone}});
  EXPECT_FALSE(present::has_numbers(*unknown, unknown->columns.back()));
}

TEST(ExportFileName, IsOneThatFileSystemsTake) {
  EXPECT_EQ(table::export_file_name("runs/2026-11-18T10-11-12_ddp", "Kernels", "csv"),
            "2026-11-18T10-11-12_ddp_Kernels.csv");
  EXPECT_EQ(table::export_file_name("/tmp/a run/", "distribution_void f<4, int>(a::b)", "png"),
            "a_run_distribution_void_f_4_int_a_b_.png");
  EXPECT_EQ(table::export_file_name("", "../../etc/passwd", "csv"), "etc_passwd.csv");
  const std::string longest = table::export_file_name("run", std::string(500, 'x'), "csv");
  EXPECT_LE(longest.size(), 90u);
  EXPECT_TRUE(longest.ends_with(".csv"));
}

}  // namespace

}  // namespace shardlens::ui::inspect
