#include "json_fields.h"

#include <fmt/format.h>

#include "lope/error.h"

namespace lope {

void refuse_field(std::string_view name, const Json& value, std::string_view allowed) {
  constexpr std::size_t kShown = 40;
  throw Error(fmt::format("{} is {}: it must be {}", name,
                          value.dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, kShown), allowed));
}

const Json& need_field(const Json& json, std::string_view name, std::string_view file) {
  if (!json.is_object()) refuse_field("the state", json, "an object");
  const auto found = json.find(name);
  if (found == json.end()) throw Error(fmt::format("{} is missing: it is not a whole {}", name, file));
  return *found;
}

}  // namespace lope
