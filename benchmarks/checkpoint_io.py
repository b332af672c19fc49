#!/usr/bin/env python3
"""Saves and loads of one state in turn: raw write, dd, Lope, torch::save, Python's torch and safetensors.

  .venv/bin/python benchmarks/checkpoint_io.py build/release/bin/checkpoint_io FOLDER [MEGABYTES] [ROUNDS]

Medians of the rounds. Saves end with fsync unless the row says "page cache"; loads find the file in the page cache.
"""

import os
import statistics
import subprocess
import sys
import time

import safetensors.torch
import torch

EACH = 4  # megabytes of a tensor


def timed(action):
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def sync(path):
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def remove(path):
    if os.path.exists(path):
        os.remove(path)


def touch(tensors):
    return sum(float(tensor[::1024].sum()) for tensor in tensors.values())


def rows(program, folder, megabytes):
    state = {f"layer{i}.weight": torch.randn(1 << 20) for i in range(megabytes // EACH)}
    paths = {name: os.path.join(folder, name) for name in ("raw", "dd", "python.pt", "python.safetensors")}

    def own(what, mode="fsync"):
        return lambda: float(subprocess.check_output([program, what, folder, str(megabytes), mode]))

    def dd():
        command = ["dd", f"if={paths['raw']}", f"of={paths['dd']}", "bs=4M", "conv=fsync", "status=none"]
        remove(paths["dd"])
        return timed(lambda: subprocess.check_call(command))

    def save(write, path, synced):
        def once():
            remove(path)
            return timed(lambda: (write(path), sync(path) if synced else None))

        return once

    def save_torch(path):
        torch.save(state, path)

    def save_safetensors(path):
        safetensors.torch.save_file(state, path)

    return {
        "raw write, page cache": own("raw", "cache"),
        "torch::save, page cache": own("torch", "cache"),
        "torch.save, page cache": save(save_torch, paths["python.pt"], False),
        "safetensors, page cache": save(save_safetensors, paths["python.safetensors"], False),
        "raw write": own("raw"),
        "Lope checkpoint": own("lope"),
        "dd": dd,
        "torch::save": own("torch"),
        "torch.save": save(save_torch, paths["python.pt"], True),
        "safetensors": save(save_safetensors, paths["python.safetensors"], True),
        "load: Lope, all bytes checked": own("lope-load"),
        "load: torch::load": own("torch-load"),
        "load: torch.load": lambda: timed(lambda: touch(torch.load(paths["python.pt"]))),
        "load: safetensors": lambda: timed(lambda: touch(safetensors.torch.load_file(paths["python.safetensors"]))),
        "load: one tensor through the map": own("lazy"),
    }


def main():
    program, folder = sys.argv[1:3]
    megabytes = int(sys.argv[3]) if len(sys.argv) > 3 else 1024
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 3
    os.makedirs(folder, exist_ok=True)
    actions = rows(program, folder, megabytes)
    times = {name: [] for name in actions}
    for _ in range(rounds):
        for name, action in actions.items():
            times[name].append(action())
            os.sync()  # so that no row pays for the one before
    for name, values in times.items():
        middle = statistics.median(values)
        rate = "" if "one tensor" in name else f"{megabytes * 1.048576 / 1000 / middle:7.2f} GB/s"
        print(f"{name:34} {1000 * middle:10.1f} ms {rate}")


if __name__ == "__main__":
    main()
