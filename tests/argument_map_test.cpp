#include <gtest/gtest.h>
#include <lope/argument_map.h>

#include <string>

#include "support/error_of.h"

namespace lope {
namespace {

constexpr const char* kAdvice = "; write name=value,name=value or a JSON object of numbers, texts and true or false";

std::string map_error(std::string_view text) {
  return testing::error_of([&] { parse_argument_map("optim_args", text); });
}

TEST(ArgumentMap, ReadsNameValuePairs) {
  const ArgumentMap expected{{"momentum", 0.9}, {"nesterov", true}, {"kind", "cosine"}};
  EXPECT_EQ(parse_argument_map("optim_args", "momentum=0.9,nesterov=true,kind=cosine"), expected);
  EXPECT_EQ(parse_argument_map("optim_args", " momentum = 9e-1 , nesterov = True,kind=cosine"), expected);
  EXPECT_EQ(parse_argument_map("optim_args", ""), ArgumentMap{});
  EXPECT_EQ(parse_argument_map("optim_args", "a=false,b="), (ArgumentMap{{"a", false}, {"b", ""}}));
}

TEST(ArgumentMap, ReadsAJsonObject) {
  const ArgumentMap expected{{"momentum", 2.0}, {"nesterov", false}, {"kind", "1"}};
  EXPECT_EQ(parse_argument_map("optim_args", R"( {"momentum": 2, "nesterov": false, "kind": "1", "none": null})"),
            expected);
}

TEST(ArgumentMap, RefusesOtherTextsByTheirOwner) {
  EXPECT_EQ(map_error("0.9"), std::string("optim_args is 0.9: not every part is name=value") + kAdvice);
  EXPECT_EQ(map_error("a=1,,b=2"), std::string("optim_args is a=1,,b=2: not every part is name=value") + kAdvice);
  EXPECT_EQ(map_error("=1"), std::string("optim_args is =1: not every part is name=value") + kAdvice);
  EXPECT_EQ(map_error("{\"a\":[1]}"),
            std::string("optim_args is {\"a\":[1]}: a value is a list or an object") + kAdvice);
  EXPECT_TRUE(map_error("{").starts_with("optim_args is {: not valid JSON: parse error at line 1, column 2"));
}

}  // namespace
}  // namespace lope
