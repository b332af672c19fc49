#pragma once
// One line of a progress bar, made to fit a width.
//
//   render({.fraction = 0.42, .fields = {{.value = "420/1000"}, {"loss", "2.3451", 1}}}, 80, {.unicode = true});

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lope {

/// "loss 2.3451". Text is ASCII.
struct BarField {
  std::string_view label = {};
  std::string value = {};
  int rank = 0;             ///< fields of a higher rank are left out first; those of rank 0 stay
  bool is_warning = false;  ///< shown in another colour
};

struct BarLine {
  std::string_view title = {};
  std::optional<double> fraction = std::nullopt;  ///< of the bar that is filled; without it there is no bar
  std::vector<BarField> fields = {};
};

struct BarStyle {
  bool unicode = false;
  bool colour = false;
};

/// At most `width` columns: without fields that do not fit, and with a bar of the room that is left.
std::string render(const BarLine& line, int width, const BarStyle& style);

}  // namespace lope
