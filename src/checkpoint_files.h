#pragma once
// The files of a checkpoint.

namespace lope::checkpoint_files {

inline constexpr const char* kModel = "model.safetensors";
inline constexpr const char* kOptimizer = "optimizer.safetensors";
/// Sums and counts of the stepper, and the loss scaler.
inline constexpr const char* kStepper = "stepper.safetensors";
/// States of the random generators by device.
inline constexpr const char* kGenerators = "rng_state.safetensors";
/// Tensors of callbacks, as NAME/TENSOR; there when a callback has some.
inline constexpr const char* kCallbacks = "callbacks.safetensors";
/// As the Python Trainer writes it: log, best metric, states of callbacks.
inline constexpr const char* kTrainerState = "trainer_state.json";
inline constexpr const char* kArguments = "training_args.json";
/// Where in the data the run is, and what else only this library needs.
inline constexpr const char* kProgress = "progress.json";

}  // namespace lope::checkpoint_files
