#include <gtest/gtest.h>
#include <lope/callbacks/json_lines_log.h>

#include <filesystem>
#include <limits>
#include <string>

#include "support/error_of.h"
#include "support/run_in_hand.h"
#include "support/temporary_folder.h"

namespace lope {
namespace {

using testing::error_of;
using testing::read_text;
using testing::RunInHand;
using testing::TemporaryFolder;
using testing::write_text;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(JsonLinesLog, WritesEachEntryAtOnceInTheOrderOfItsValues) {
  const TemporaryFolder folder;
  RunInHand run;
  JsonLinesLog log(folder / "log.jsonl");
  run.go_to(1);
  log.on_log(run.context(), run.log({{"loss", 2.5}, {"grad_norm", 1}, {"learning_rate", 5e-5}}), run.control);
  const std::string first = R"({"loss": 2.5, "grad_norm": 1.0, "learning_rate": 5e-05, "epoch": 0.2, "step": 1})"
                            "\n";
  EXPECT_EQ(read_text(folder / "log.jsonl"), first);
  run.go_to(5);
  log.on_log(run.context(), run.log({{"eval_loss", 0.1}}), run.control);
  EXPECT_EQ(read_text(folder / "log.jsonl"), first + R"({"eval_loss": 0.1, "epoch": 1.0, "step": 5})"
                                                     "\n");
}

TEST(JsonLinesLog, WritesWhatIsNotFiniteAsPythonDoes) {
  const TemporaryFolder folder;
  RunInHand run;
  JsonLinesLog log(folder / "log.jsonl");
  log.on_log(run.context(), run.log({{"a", kNan}, {"b", kInfinity}, {"c", -kInfinity}}), run.control);
  EXPECT_EQ(read_text(folder / "log.jsonl"), R"({"a": NaN, "b": Infinity, "c": -Infinity, "epoch": 0.0, "step": 0})"
                                             "\n");
}

TEST(JsonLinesLog, EscapesNames) {
  const TemporaryFolder folder;
  RunInHand run;
  JsonLinesLog log(folder / "log.jsonl");
  log.on_log(run.context(), run.log({{"a \"b\"\nä", 1}}), run.control);
  EXPECT_EQ(read_text(folder / "log.jsonl"), R"({"a \"b\"\n\u00e4": 1.0, "epoch": 0.0, "step": 0})"
                                             "\n");
}

TEST(JsonLinesLog, AddsToAFileAndMakesItsFolder) {
  const TemporaryFolder folder;
  RunInHand run;
  const std::string path = folder / "a/b/log.jsonl";
  for (int i = 0; i < 2; ++i) JsonLinesLog(path).on_log(run.context(), run.log({{"loss", 1}}), run.control);
  const std::string line = R"({"loss": 1.0, "epoch": 0.0, "step": 0})"
                           "\n";
  EXPECT_EQ(read_text(path), line + line);
}

TEST(JsonLinesLog, NamesAFileThatCannotBeWritten) {
  const TemporaryFolder folder;
  write_text(folder / "file", "");
  const std::string path = folder / "file/log.jsonl";
  EXPECT_EQ(error_of([&] { JsonLinesLog log(path); }),
            "cannot write " + path + ": Not a directory; choose a writable folder with free space");
}

TEST(JsonLinesLog, SaysWhenTheDiskIsFull) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full on this system";
  RunInHand run;
  JsonLinesLog log("/dev/full");
  EXPECT_EQ(error_of([&] { log.on_log(run.context(), run.log({{"loss", 1}}), run.control); }),
            "cannot write /dev/full: No space left on device; choose a writable folder with free space");
}

}  // namespace
}  // namespace lope
