"""A run that is killed with SIGKILL at random moments, also while it saves, ends with the bits of one that is not.

KILLS sets how often (default 50), SEED when.
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
from programs import BIN, state_of

KILLS = int(os.environ.get("KILLS", "50"))
SEED = int(os.environ.get("SEED", "0"))
UPDATES = 400
LAST = f"checkpoint-{UPDATES}"


def start(folder, workers):
    return subprocess.Popen(
        [BIN / "kill_run", folder, str(workers)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish(process):
    output, errors = process.communicate()
    if process.returncode != 0:
        raise AssertionError(f"kill_run failed with {process.returncode}: {errors}")
    return output, errors


def kill_after(process, seconds):
    """Kills the run so long after it has begun to train; whether it was still alive."""
    process.stdout.readline()
    time.sleep(seconds)
    alive = process.poll() is None
    process.kill()
    process.communicate()
    return alive


def log_without_times(folder):
    def is_time(name):
        return name.endswith(("_runtime", "_per_second"))

    entries = [entry for entry in state_of(folder)["log_history"] if "train_runtime" not in entry]
    return [{name: value for name, value in entry.items() if not is_time(name)} for entry in entries]


class Kill(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def test_a_run_that_is_killed_again_and_again_ends_with_the_same_bits(self):
        whole, killed = self.folder / "whole", self.folder / "killed"
        process = start(whole, 0)
        process.stdout.readline()
        begun = time.monotonic()
        finish(process)
        whole_seconds = time.monotonic() - begun

        moments = random.Random(SEED)
        kills, saving, attempts = 0, 0, 0
        while kills < KILLS and attempts < 4 * KILLS:
            attempts += 1
            # Short enough that the run is not over before the last kill, long enough that most lives save something.
            kills += kill_after(start(killed, attempts % 3), moments.uniform(0, 1.5 * whole_seconds / KILLS))
            saving += any(name.name.endswith(".tmp") for name in killed.glob(".checkpoint-*"))
            if (killed / LAST).exists():
                break
        output, errors = finish(start(killed, 2))
        print(f"{kills} kills, {saving} of them while a checkpoint was being written; last life: {errors.strip()}")
        self.assertGreaterEqual(kills, min(KILLS, 3))
        self.assertEqual(list(killed.glob(".checkpoint-*")), [], "a killed save left something behind")
        self.assertEqual(log_without_times(killed / LAST), log_without_times(whole / LAST))
        for name in ("model", "optimizer", "stepper", "rng_state"):
            file = f"{LAST}/{name}.safetensors"
            self.assertEqual((killed / file).read_bytes(), (whole / file).read_bytes(), file)
        position = [json.loads((folder / LAST / "progress.json").read_text()) for folder in (killed, whole)]
        self.assertEqual(position[0], position[1])


if __name__ == "__main__":
    unittest.main()
