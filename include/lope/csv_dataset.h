#pragma once
// A table of numbers from a CSV file, in memory.
//
//   lope::CsvDataset data("houses.csv", {.columns = {"area", "rooms"}, .targets = {"price"}});
//   data.get(0);           // "x" (2), "labels" (1)

#include <string>
#include <vector>

#include "lope/dataset.h"

namespace lope {

struct CsvOptions {
  /// Names of the columns of "x", in this order; empty for all that are no targets, in the file's order.
  std::vector<std::string> columns = {};
  /// Names of the columns of "labels", in this order; empty for no such tensor.
  std::vector<std::string> targets = {};
  /// What stands between fields.
  char delimiter = ',';
};

/// Rows of a file whose first line names its columns: "x" (columns) and "labels" (targets), float32. The form is that
/// of RFC 4180: fields may be quoted, a quote in them is doubled, and they may then hold delimiters and line breaks;
/// lines end in LF or CRLF. Blank lines are left out. Columns that are not chosen may hold anything.
class CsvDataset : public TensorDataset {
 public:
  /// Throws Error naming the file, and line and column where one is at fault: a field that is no finite number, a row
  /// with more or fewer fields than the header, a column that is not there or there twice, a quote out of place, no
  /// row.
  explicit CsvDataset(const std::string& path, const CsvOptions& options = {});
};

}  // namespace lope
