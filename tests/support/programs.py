"""Runs the built programs for the tests in Python. LOPE_BIN_DIR says where they are, by default build/release/bin."""

import json
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("LOPE_BIN_DIR", SOURCE / "build" / "release" / "bin"))
SHARED = pathlib.Path(os.environ["LOPE_SHARED_DIR"]) if "LOPE_SHARED_DIR" in os.environ else None


def run(program, *arguments):
    """The finished process; its output is text."""
    command = [str(BIN / program), *(str(argument) for argument in arguments)]
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)


def flags(options):
    """{"max_steps": 3, "bf16": True} as --max_steps 3 --bf16 true."""
    words = (
        (f"--{name}", str(value).lower() if isinstance(value, bool) else str(value)) for name, value in options.items()
    )
    return [word for pair in words for word in pair]


def causal_lm(**options):
    """Runs the example, which must succeed; returns what it printed."""
    process = run("causal_lm", *flags({"disable_tqdm": True} | options))
    if process.returncode != 0:
        raise AssertionError(f"causal_lm failed with {process.returncode}: {process.stderr}")
    return process.stdout


def causal_lm_error(*arguments):
    """Runs the example, which must fail with one line; returns that line."""
    process = run("causal_lm", *arguments)
    lines = process.stderr.splitlines()
    if process.returncode not in (1, 2) or len(lines) != 1:
        raise AssertionError(f"exit code {process.returncode}, not one line: {process.stderr}")
    return lines[0]


def state_of(folder):
    return json.loads(pathlib.Path(folder, "trainer_state.json").read_text())


def logged(folder, name):
    """All values with this name in the log, in order."""
    return [entry[name] for entry in state_of(folder)["log_history"] if name in entry]


def write_examples(path, examples):
    path.write_text("".join(json.dumps(example) + "\n" for example in examples))
    return path


def skip_without(*modules):
    """A reason to skip when a Python package is missing, else None."""
    missing = [name for name in modules if not _has(name)]
    return f"{sys.executable} has no {', '.join(missing)}: run scripts/setup --test" if missing else None


def _has(name):
    import importlib.util

    return importlib.util.find_spec(name) is not None
