#include "lope/csv_dataset.h"

#include <ATen/ops/empty.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "csv_reader.h"
#include "lope/error.h"
#include "lope/mapped_file.h"

namespace lope {
namespace {

using Row = std::vector<std::string>;

std::vector<std::string> quoted(const Row& names) {
  std::vector<std::string> all;
  for (const auto& name : names) all.push_back(fmt::format("\"{}\"", name));
  return all;
}

size_t find_column(const Row& header, const std::string& name) {
  const auto found = std::ranges::find(header, name);
  if (found == header.end()) {
    throw Error(fmt::format("there is no column \"{}\": there are {}", name, fmt::join(quoted(header), ", ")));
  }
  if (std::ranges::count(header, name) > 1) throw Error(fmt::format("two columns are called \"{}\"", name));
  return static_cast<size_t>(found - header.begin());
}

std::vector<size_t> find_columns(const Row& header, const Row& names) {
  std::vector<size_t> columns;
  for (const auto& name : names) columns.push_back(find_column(header, name));
  return columns;
}

Row all_but(const Row& header, const Row& targets) {
  Row columns;
  for (const auto& name : header) {
    if (std::ranges::find(targets, name) == targets.end()) columns.push_back(name);
  }
  return columns;
}

/// Without blanks at either end, and without a leading plus, which from_chars does not know.
std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return text;
}

float parse_number(const std::string& field) {
  const std::string_view text = trimmed(field);
  if (text.empty()) throw Error("the field is empty: it must be a number");
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec == std::errc::invalid_argument || result.ptr != text.data() + text.size()) {
    throw Error(fmt::format("\"{}\" is not a number", field));
  }
  const auto narrow = static_cast<float>(value);
  if (result.ec != std::errc() || !std::isfinite(narrow)) {
    throw Error(fmt::format("\"{}\" is not a number that float32 can hold", field));
  }
  return narrow;
}

/// Columns that go into one tensor.
class Columns {
 public:
  Columns(const Row& header, const Row& names) : names_(names), indices_(find_columns(header, names)) {}

  void add(const Row& row, int64_t line) {
    for (size_t i = 0; i < indices_.size(); ++i) {
      try {
        values_.push_back(parse_number(row[indices_[i]]));
      } catch (const Error& error) {
        throw Error(fmt::format("line {} column \"{}\": {}", line, names_[i], error.what()));
      }
    }
  }

  at::Tensor tensor() const {
    const auto width = static_cast<int64_t>(names_.size());
    at::Tensor table = at::empty({static_cast<int64_t>(values_.size()) / width, width}, at::kFloat);
    std::ranges::copy(values_, table.mutable_data_ptr<float>());
    return table;
  }

 private:
  Row names_;
  std::vector<size_t> indices_;
  std::vector<float> values_;
};

Batch read_table(std::string_view text, const CsvOptions& options) {
  CsvReader reader(text, options.delimiter);
  Row header;
  if (!reader.next(header)) throw Error("the file is empty: its first line must name the columns");
  const Row columns = options.columns.empty() ? all_but(header, options.targets) : options.columns;
  if (columns.empty()) throw Error("every column is a target: leave at least one for \"x\"");
  Columns inputs(header, columns);
  Columns targets(header, options.targets);
  int64_t rows = 0;
  for (Row row; reader.next(row); ++rows) {
    if (row.size() != header.size()) {
      throw Error(
          fmt::format("line {} has {} fields, but the header has {}", reader.line(), row.size(), header.size()));
    }
    inputs.add(row, reader.line());
    targets.add(row, reader.line());
  }
  if (rows == 0) throw Error("there is no row below the header");
  Batch table{{"x", inputs.tensor()}};
  if (!options.targets.empty()) table.set("labels", targets.tensor());
  return table;
}

Batch read_file(const std::string& path, const CsvOptions& options) {
  if (options.delimiter == '"' || options.delimiter == '\n' || options.delimiter == '\r') {
    throw Error("csv: the delimiter can't be a quote or a line break: use ',', ';' or '\\t'");
  }
  const auto file = MappedFile::open(path);
  const auto bytes = file->bytes();
  try {
    return read_table({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, options);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace

CsvDataset::CsvDataset(const std::string& path, const CsvOptions& options) : TensorDataset(read_file(path, options)) {}

}  // namespace lope
