#!/usr/bin/env python3
"""Compares a run with a reference run that make_case.py made.

    compare.py CASE_FOLDER OUTPUT_FOLDER

Prints each difference and exits with 1 when there is any. Compared are the log entries of training (step, epoch, loss,
norm, rate), those of evaluation, the mean loss, the number of updates, and the weights.
"""

import json
import pathlib
import sys

import safetensors.numpy

# Relative to the larger of the expected value and the second number.
FLOAT32 = {
    "loss": (1e-4, 1e-3),
    "grad_norm": (1e-3, 1e-2),
    "learning_rate": (1e-6, 1e-12),
    "epoch": (1e-6, 1e-3),
    "eval_loss": (1e-4, 1e-3),
    "train_loss": (1e-4, 1e-3),
    "weights": (1e-3, 1e-2),
}
HALF = FLOAT32 | {
    "loss": (5e-3, 1e-3),
    "grad_norm": (5e-2, 1e-2),
    "eval_loss": (5e-3, 1e-3),
    "train_loss": (5e-3, 1e-3),
    "weights": (2e-2, 1e-2),
}


class Comparison:
    """Collects what is not the same."""

    def __init__(self, limits):
        self.limits = limits
        self.found = []

    def same(self, what, expected, got):
        if expected != got:
            self.found.append(f"{what}: expected {expected}, got {got}")

    def close(self, what, kind, expected, got):
        relative, floor = self.limits[kind]
        if got is None or not abs(expected - got) <= relative * max(abs(expected), floor):
            self.found.append(f"{what}: expected {expected}, got {got}")


def entries_with(history, name):
    return [entry for entry in history if name in entry]


def compare_training(comparison, expected, got):
    expected, got = entries_with(expected, "loss"), entries_with(got, "loss")
    comparison.same("steps with a log entry", [entry["step"] for entry in expected], [entry["step"] for entry in got])
    for one, other in zip(expected, got):
        for name in ("loss", "grad_norm", "learning_rate", "epoch"):
            comparison.close(f"step {one['step']} {name}", name, one[name], other.get(name))


def compare_evaluation(comparison, case, expected, got):
    """The Python Trainer averages over batches, so its values are only right where all examples have one length."""
    evaluations = entries_with(expected["log_history"], "eval_loss")
    if not evaluations:
        return
    got = entries_with(got, "eval_loss")
    lengths = {len(json.loads(line)["input_ids"]) for line in (case / "eval.jsonl").read_text().splitlines()}
    comparison.same(
        "steps with an evaluation",
        [entry["step"] for entry in evaluations],
        [entry["step"] for entry in got][: len(evaluations)],
    )
    if len(lengths) == 1:
        for one, other in zip(evaluations, got):
            comparison.close(f"step {one['step']} eval_loss", "eval_loss", one["eval_loss"], other["eval_loss"])
    per_token = expected["final_eval_loss_per_token"]
    if per_token is not None and got:
        comparison.close("last eval_loss", "eval_loss", per_token, got[-1]["eval_loss"])


def compare_weights(comparison, case, output):
    expected = safetensors.numpy.load_file(case / "expected.safetensors")
    got = safetensors.numpy.load_file(output / "model.safetensors")
    comparison.same("names of the weights", sorted(expected), sorted(got))
    relative, floor = comparison.limits["weights"]
    for name in expected.keys() & got.keys():
        comparison.same(f"shape of {name}", expected[name].shape, got[name].shape)
        difference = float(abs(expected[name] - got[name]).max())
        limit = relative * max(float(abs(expected[name]).max()), floor)
        if not difference <= limit:
            comparison.found.append(f"{name} differs by {difference:.3g}, more than {limit:.3g}")


def differences(case, output):
    """What is not the same, a line each."""
    case, output = pathlib.Path(case), pathlib.Path(output)
    arguments = json.loads((case / "args.json").read_text())
    expected = json.loads((case / "expected.json").read_text())
    state = json.loads((output / "trainer_state.json").read_text())
    comparison = Comparison(HALF if arguments.get("bf16") or arguments.get("fp16") else FLOAT32)
    comparison.same("global_step", expected["global_step"], state["global_step"])
    compare_training(comparison, expected["log_history"], state["log_history"])
    compare_evaluation(comparison, case, expected, state["log_history"])
    losses = [entry["train_loss"] for entry in state["log_history"] if "train_loss" in entry]
    comparison.close("train_loss", "train_loss", expected["train_loss"], losses[-1] if losses else None)
    compare_weights(comparison, case, output)
    return comparison.found


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    lines = differences(sys.argv[1], sys.argv[2])
    print("\n".join(lines) or "same as the reference")
    sys.exit(1 if lines else 0)
