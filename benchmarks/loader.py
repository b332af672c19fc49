"""Python's DataLoader over the data of loader.cpp, which runs this and gives the file of tokens."""

import sys
import time

import numpy
import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset

ROWS, ROW_BATCH = 60_000, 64
BLOCK, BLOCK_BATCH = 1024, 8
DECODE_BATCH, DECODE, STEP = 3, 0.002, 0.004
ROUNDS = 3


class TokenBlocks(Dataset):
    def __init__(self, path):
        self.tokens = numpy.memmap(path, dtype=numpy.uint16, mode="r").reshape(-1, BLOCK)

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, index):
        return torch.from_numpy(self.tokens[index].astype(numpy.int64))


class Decoded(Dataset):
    def __len__(self):
        return DECODE_BATCH * 300

    def __getitem__(self, index):
        time.sleep(DECODE)
        return torch.full((16,), float(index))


def loader(data, batch, workers):
    return DataLoader(data, batch_size=batch, shuffle=True, num_workers=workers, persistent_workers=workers > 0)


def compare(name, data, batch):
    for workers in (0, 2):
        batches = loader(data, batch, workers)
        best = float("inf")
        for _ in range(ROUNDS):
            begin = time.perf_counter()
            for _ in batches:
                pass
            best = min(best, time.perf_counter() - begin)
        label = f"Python, {workers} workers"
        print(f"{name:<14} {label:<28} {len(data) / best:>12.0f} {best * 1e6 * batch / len(data):>10.1f}", flush=True)


def train_step():
    begin = time.perf_counter()
    while time.perf_counter() - begin < STEP:
        pass


def waiting(workers):
    batches = iter(loader(Decoded(), DECODE_BATCH, workers))
    next(batches)
    begin = time.perf_counter()
    waited = 0.0
    while True:
        asked = time.perf_counter()
        batch = next(batches, None)
        waited += time.perf_counter() - asked
        if batch is None:
            break
        train_step()
    label = f"Python, {workers} workers"
    print(f"{'2-ms decode':<14} {label:<28} {100 * waited / (time.perf_counter() - begin):>11.1f} %", flush=True)


def main():
    torch.set_num_threads(1)
    images = torch.randint(0, 256, (ROWS, 784), dtype=torch.uint8)
    labels = torch.randint(0, 10, (ROWS,))
    compare("tensor rows", TensorDataset(images, labels), ROW_BATCH)
    compare("token blocks", TokenBlocks(sys.argv[1]), BLOCK_BATCH)
    for workers in (0, 2):
        waiting(workers)


if __name__ == "__main__":
    main()
