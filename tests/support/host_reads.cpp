#include "support/host_reads.h"

#include <array>
#include <mutex>
#include <string_view>
#include <vector>

namespace lope::testing {
namespace {

/// `item`, `is_nonzero` and `equal` (on CUDA) all end in the first one; `equal` on the CPU and `to` from CUDA do not.
constexpr std::array<std::string_view, 5> kReads{"aten::_local_scalar_dense", "aten::item", "aten::is_nonzero",
                                                 "aten::equal", "aten::nonzero"};

struct Calls {
  std::mutex mutex;
  std::vector<std::string> names;
};

Calls& calls() {
  static Calls all;
  return all;
}

std::unique_ptr<at::ObserverContext> note(const at::RecordFunction& function) {
  const std::string_view name = function.name();
  for (const auto read : kReads) {
    if (name != read) continue;
    const std::lock_guard lock(calls().mutex);
    calls().names.emplace_back(name);
  }
  return nullptr;
}

}  // namespace

HostReads::HostReads() {
  calls().names.clear();
  handle_ = at::addGlobalCallback(at::RecordFunctionCallback(note).scopes({at::RecordScope::FUNCTION}));
}

HostReads::~HostReads() { at::removeCallback(handle_); }

int HostReads::count() const {
  const std::lock_guard lock(calls().mutex);
  int count = 0;
  for (const auto& name : calls().names) count += name == "aten::item" || name == "aten::is_nonzero" ? 0 : 1;
  return count;
}

std::string HostReads::names() const {
  const std::lock_guard lock(calls().mutex);
  std::string text;
  for (const auto& name : calls().names) text += name + " ";
  return text;
}

}  // namespace lope::testing
