#pragma once

namespace lope {

/// From here on kernels that the calling thread runs use that thread alone: several threads that load, each with a team
/// of its own, would take the processors from the training thread. Other threads keep their number.
void use_one_kernel_thread();

}  // namespace lope
