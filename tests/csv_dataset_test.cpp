#include "lope/csv_dataset.h"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace lope {
namespace {

using testing::error_of;
using testing::TemporaryFolder;
using testing::write_text;

class Table {
 public:
  explicit Table(const std::string& text) { write_text(path(), text); }
  std::string path() const { return folder_ / "t.csv"; }
  CsvDataset open(const CsvOptions& options = {}) const { return CsvDataset(path(), options); }
  /// What opening says, without the file's name.
  std::string error(const CsvOptions& options = {}) const {
    return error_of([&] { open(options); }).substr(path().size() + 2);
  }

 private:
  TemporaryFolder folder_;
};

at::Tensor floats(const std::vector<double>& values) { return at::tensor(values, at::kFloat); }

/// The only column of a table, joined by its rows.
at::Tensor column(const std::string& text) {
  const CsvDataset data = Table(text).open();
  std::vector<double> values;
  for (int64_t i = 0; i < data.size(); ++i) values.push_back(data.get(i)["x"].item<double>());
  return floats(values);
}

TEST(CsvDataset, RowsAreExamplesOfTheChosenColumnsInTheChosenOrder) {
  const Table table("id,a,b,price\nx,1,2.5,10\ny,-3,4e1,20\n");
  const CsvDataset data = table.open({.columns = {"b", "a"}, .targets = {"price"}});
  EXPECT_EQ(data.size(), 2);
  EXPECT_TRUE(data.get(0)["x"].equal(floats({2.5, 1})));
  EXPECT_TRUE(data.get(1)["x"].equal(floats({40, -3})));
  EXPECT_TRUE(data.get(1)["labels"].equal(floats({20})));
}

TEST(CsvDataset, WithoutAChoiceAllColumnsButTheTargetsAreInputs) {
  const Table table("a,y,b\n1,2,3\n");
  EXPECT_TRUE(table.open({.targets = {"y"}}).get(0)["x"].equal(floats({1, 3})));
  EXPECT_FALSE(table.open().get(0).contains("labels"));
  EXPECT_EQ(table.open().get(0)["x"].numel(), 3);
}

TEST(CsvDataset, BatchesAreGathered) {
  const CsvDataset data = Table("a,b\n1,2\n3,4\n5,6\n").open();
  EXPECT_TRUE((*data.get_batch(std::vector<int64_t>{2, 0}))["x"].equal(floats({5, 6, 1, 2}).reshape({2, 2})));
}

TEST(CsvDataset, LineEndsBlankLinesAndAByteOrderMarkDoNotMatter) {
  const auto expected = floats({1, 2});
  EXPECT_TRUE(column("a\n1\n2").equal(expected));
  EXPECT_TRUE(column("a\r\n1\r\n2\r\n").equal(expected));
  EXPECT_TRUE(column("\n\na\n\n1\n\r\n2\n\n").equal(expected));
  EXPECT_TRUE(column("\xef\xbb\xbf"
                     "a\n1\n2\n")
                  .equal(expected));
}

TEST(CsvDataset, NumbersMayHaveBlanksAroundAndAPlus) { EXPECT_TRUE(column("a\n 1 \n\t+2\n").equal(floats({1, 2}))); }

TEST(CsvDataset, QuotedFieldsMayHoldDelimitersQuotesAndLineBreaks) {
  const Table table("\"a,\"\"b\"\"\nc\",d\n\"1\",\"2\"\n3,4\n");
  const CsvDataset data = table.open({.columns = {"a,\"b\"\nc"}});
  EXPECT_TRUE(data.get(0)["x"].equal(floats({1})));
  EXPECT_EQ(Table("a,note\n1,\"two\r\nlines\"\nx,\n").error({.columns = {"a"}}),
            "line 4 column \"a\": \"x\" is not a number");
}

TEST(CsvDataset, AnotherDelimiterCanBeChosen) {
  const Table table("a;b\n1;2\n");
  EXPECT_TRUE(table.open({.delimiter = ';'}).get(0)["x"].equal(floats({1, 2})));
  EXPECT_EQ(error_of([&] { table.open({.delimiter = '"'}); }),
            "csv: the delimiter can't be a quote or a line break: use ',', ';' or '\\t'");
}

TEST(CsvDataset, ColumnsThatAreNotChosenMayHoldAnything) {
  EXPECT_TRUE(Table("a,b\n1,\n").open({.columns = {"a"}}).get(0)["x"].equal(floats({1})));
}

TEST(CsvDataset, AFieldThatIsNoNumberIsNamedWithLineAndColumn) {
  const auto error = [](const std::string& field) { return Table("a,b\n1,2\n3," + field + "\n").error(); };
  EXPECT_EQ(error("abc"), "line 3 column \"b\": \"abc\" is not a number");
  EXPECT_EQ(error("1.5x"), "line 3 column \"b\": \"1.5x\" is not a number");
  EXPECT_EQ(error("+-1"), "line 3 column \"b\": \"+-1\" is not a number");
  EXPECT_EQ(error("\"1,5\""), "line 3 column \"b\": \"1,5\" is not a number");
  EXPECT_EQ(error(" "), "line 3 column \"b\": the field is empty: it must be a number");
  EXPECT_EQ(error("nan"), "line 3 column \"b\": \"nan\" is not a number that float32 can hold");
  EXPECT_EQ(error("1e39"), "line 3 column \"b\": \"1e39\" is not a number that float32 can hold");
  EXPECT_EQ(error("1e999"), "line 3 column \"b\": \"1e999\" is not a number that float32 can hold");
}

TEST(CsvDataset, RaggedRowsAreRefused) {
  EXPECT_EQ(Table("a,b\n1,2\n3\n").error(), "line 3 has 1 fields, but the header has 2");
  EXPECT_EQ(Table("a,b\n1,2,\n").error(), "line 2 has 3 fields, but the header has 2");
}

TEST(CsvDataset, ColumnsThatAreNotThereOrThereTwiceAreRefused) {
  EXPECT_EQ(Table("a,b\n1,2\n").error({.columns = {"c"}}), "there is no column \"c\": there are \"a\", \"b\"");
  EXPECT_EQ(Table("a,b\n1,2\n").error({.targets = {"c"}}), "there is no column \"c\": there are \"a\", \"b\"");
  EXPECT_EQ(Table("a,a\n1,2\n").error({.columns = {"a"}}), "two columns are called \"a\"");
  EXPECT_EQ(Table("a\n1\n").error({.targets = {"a"}}), "every column is a target: leave at least one for \"x\"");
}

TEST(CsvDataset, QuotesOutOfPlaceAreRefusedWithTheirPlace) {
  EXPECT_EQ(Table("a,b\n1,\"2\n3,4\n").error(), "line 2 position 3: there is a quote that is never closed");
  EXPECT_EQ(Table("a,b\n1,\"2\"3\n").error(), "line 2 position 6: there is text behind a closing quote");
  EXPECT_EQ(Table("a,b\n1,2\"\n").error(),
            "line 2 position 4: there is a quote in a field that does not begin with one");
}

TEST(CsvDataset, FilesWithoutRowsAreRefused) {
  EXPECT_EQ(Table("").error(), "the file is empty: its first line must name the columns");
  EXPECT_EQ(Table("a,b\n\n").error(), "there is no row below the header");
  EXPECT_EQ(error_of([] { CsvDataset("/no/such/file"); }),
            "cannot read /no/such/file: No such file or directory; give the path of a readable file");
}

}  // namespace
}  // namespace lope
