"""The same numbers as Hugging Face's Trainer: the reference runs in LOPE_SHARED_DIR, and fresh ones made here."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TESTS = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(TESTS, "support"), os.path.join(TESTS, "parity")]
import programs

MISSING = programs.skip_without("torch", "transformers", "accelerate", "safetensors")
REFERENCES = programs.SHARED / "parity" if programs.SHARED and (programs.SHARED / "parity").is_dir() else None
NOT_YET = {"adafactor"}  # an optimizer that the library has not

RAGGED = ["--lengths", "4:48", "--mask_prompts"]
FRESH = {
    "ragged_windows": [
        "--rows",
        "37",
        "per_device_train_batch_size=3",
        "gradient_accumulation_steps=5",
        "num_train_epochs=2.5",
        *RAGGED,
    ],
    "clipping_and_decay": ["max_grad_norm=0.1", "weight_decay=0.1", "gradient_accumulation_steps=3", *RAGGED],
    "cosine_with_warmup_ratio": ["lr_scheduler_type=cosine", "warmup_steps=0.07", "num_train_epochs=3"],
    "cosine_with_min_lr": [
        "lr_scheduler_type=cosine_with_min_lr",
        'lr_scheduler_kwargs={"min_lr": 3e-4}',
        "warmup_steps=2",
    ],
    "warmup_stable_decay": [
        "lr_scheduler_type=warmup_stable_decay",
        "warmup_steps=3",
        'lr_scheduler_kwargs={"num_decay_steps": 5, "min_lr_ratio": 0.1, "decay_type": "1-sqrt"}',
    ],
    "polynomial": [
        "lr_scheduler_type=polynomial",
        'lr_scheduler_kwargs={"power": 0.5, "lr_end": 1e-4}',
        "warmup_steps=2",
    ],
    "plateau": [
        "lr_scheduler_type=reduce_lr_on_plateau",
        "learning_rate=0.05",
        "eval_strategy=steps",
        "eval_steps=1",
        "metric_for_best_model=eval_loss",
        'lr_scheduler_kwargs={"patience": 1, "factor": 0.3, "cooldown": 2}',
        "--eval_rows",
        "8",
    ],
    "sgd": ["optim=sgd", "optim_args=momentum=0.9,nesterov=True", "learning_rate=0.1", "weight_decay=0.01", *RAGGED],
    "adagrad": ["optim=adagrad", "learning_rate=0.02", "weight_decay=0.01"],
    "rmsprop": ["optim=rmsprop", "optim_args=alpha=0.9,momentum=0.5,centered=True", "weight_decay=0.01"],
    "label_smoothing": ["label_smoothing_factor=0.2", "per_device_train_batch_size=3", "gradient_accumulation_steps=4"],
    "logging_by_epoch": [
        "logging_strategy=epoch",
        "--rows",
        "41",
        "gradient_accumulation_steps=3",
        "num_train_epochs=2",
        *RAGGED,
    ],
    "evaluation": [
        "eval_strategy=steps",
        "eval_steps=0.3",
        "--eval_rows",
        "13",
        "per_device_eval_batch_size=5",
        *RAGGED,
    ],
    "bf16": ["bf16=true", "gradient_accumulation_steps=2", "weight_decay=0.1", *RAGGED],
}


def train(case, output):
    """Runs the example on a case."""
    options = {
        "model_name_or_path": case,
        "train_file": case / "train.jsonl",
        "args_file": case / "args.json",
        "train_sampling_strategy": "sequential",
        "use_cpu": True,
        "output_dir": output,
    }
    if (case / "eval.jsonl").exists():
        options["validation_file"] = case / "eval.jsonl"
    programs.causal_lm(**options)


def is_half(case):
    arguments = json.loads((case / "args.json").read_text())
    return bool(arguments.get("bf16") or arguments.get("fp16"))


class InFolder(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)


def check(case, output):
    """What the references' own script finds, or nothing."""
    process = subprocess.run(
        [sys.executable, REFERENCES / "check_parity.py", case, output], capture_output=True, text=True, check=False
    )
    return process.stdout + process.stderr if process.returncode != 0 else ""


@unittest.skipUnless(REFERENCES, "LOPE_SHARED_DIR names no folder with reference runs in parity/")
class References(InFolder):
    def test_every_reference_run_is_matched(self):
        for case in sorted(path.parent for path in REFERENCES.glob("*/expected.json")):
            if case.name in NOT_YET:
                continue
            with self.subTest(case=case.name):
                output = self.folder / case.name
                train(case, output)
                found = check(case, output)
                if found and is_half(case):
                    found = self.check_against_python_here(case, output)
                self.assertEqual(found, "")

    def check_against_python_here(self, case, output):
        """Processors sum bf16 products in different orders. Where a gradient is 0 in exact arithmetic, as that of the
        attention keys' bias, Adam makes full steps of the rounding error, so that Python's own run on another processor
        is not like the reference. Ours must be like Python's on this one."""
        if MISSING:
            self.skipTest(MISSING)
        import make_case

        here = self.folder / f"{case.name}_here"
        make_case.run_again(case, here)
        return check(here, output)


@unittest.skipIf(MISSING, MISSING)
class Fresh(InFolder):
    def test_fresh_runs_of_the_python_trainer_are_matched(self):
        import compare
        import make_case

        for seed, (name, options) in enumerate(FRESH.items(), start=100):
            with self.subTest(case=name):
                case = self.folder / name
                make_case.make_case(make_case.parse([str(case), "--seed", str(seed), *options]))
                train(case, self.folder / "out")
                self.assertEqual(compare.differences(case, self.folder / "out"), [])


if __name__ == "__main__":
    unittest.main()
