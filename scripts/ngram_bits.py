#!/usr/bin/env python3
"""Bits per byte that an n-gram model reaches on a held-out text: a yardstick for a language model.

    ngram_bits.py TRAIN VALIDATION [--order 5]

Each byte is predicted from the ORDER bytes before it. Counts come from TRAIN only; the orders 0 to ORDER are mixed by
Witten and Bell's rule: p(s|c) = (n(c,s) + t(c) p(s|shorter c)) / (n(c) + t(c)), where n counts and t(c) is how many different
bytes have followed c. Below order 0 stands 1/256.
"""
import argparse
import sys

import numpy as np

MAX_ORDER = 6  # a context and its next byte fill at most seven bytes of a 64-bit key


def keys(data, length):
    """One integer for each run of `length` bytes in data."""
    count = len(data) - length + 1
    result = np.zeros(max(count, 0), dtype=np.int64)
    for offset in range(length):
        result = (result << 8) | data[offset : offset + count]
    return result


def look_up(table, counts, wanted):
    """The count of each wanted key, 0 where the sorted table lacks it."""
    at = np.minimum(np.searchsorted(table, wanted), len(table) - 1)
    return np.where(table[at] == wanted, counts[at], 0)


def mix_in(train, history, order, shorter):
    """Probabilities of the bytes history[order:], mixed from this order's counts and the shorter contexts'."""
    grams, gram_counts = np.unique(keys(train, order + 1), return_counts=True)
    contexts, first = np.unique(grams >> 8, return_index=True)
    totals = np.add.reduceat(gram_counts, first)
    different = np.diff(np.append(first, len(grams)))
    wanted = keys(history, order + 1)
    n = look_up(grams, gram_counts, wanted)
    n_context = look_up(contexts, totals, wanted >> 8)
    t_context = look_up(contexts, different, wanted >> 8)
    seen = n_context > 0
    return np.where(seen, (n + t_context * shorter) / np.maximum(n_context + t_context, 1), shorter)


def bits_per_byte(train, validation, order):
    """train and validation are bytes; the first bytes of validation are predicted from the end of train."""
    train = np.frombuffer(train, dtype=np.uint8).astype(np.int64)
    validation = np.frombuffer(validation, dtype=np.uint8).astype(np.int64)
    probability = np.full(len(validation), 1 / 256)
    for length in range(order + 1):
        history = np.concatenate([train[len(train) - length :], validation])
        probability = mix_in(train, history, length, probability)
    return float(-np.log2(probability).mean())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train")
    parser.add_argument("validation")
    parser.add_argument("--order", type=int, default=5, choices=range(MAX_ORDER + 1))
    options = parser.parse_args()
    texts = [open(path, "rb").read() for path in (options.train, options.validation)]
    for path, text in zip((options.train, options.validation), texts):
        if len(text) <= options.order:
            sys.exit(f"{path} holds {len(text)} bytes; more than {options.order} are needed")
    print(f"{bits_per_byte(*texts, options.order):.4f}")


if __name__ == "__main__":
    main()
