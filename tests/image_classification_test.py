"""The example image_classification on a data set that is learnt in seconds: each class is one bright band."""

import gzip
import json
import os
import pathlib
import random
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
import programs
from programs import flags, logged

SIDE = 28
TINY = {"use_cpu": True, "disable_tqdm": True, "per_device_train_batch_size": 16, "num_train_epochs": 6}


def idx(type_code, shape, data):
    return struct.pack(f">BBBB{len(shape)}I", 0, 0, type_code, len(shape), *shape) + bytes(data)


def banded(label, noise):
    """Two bright lines of pixels at a height that tells the class, in noise."""
    rows = [[noise.randrange(60) for _ in range(SIDE)] for _ in range(SIDE)]
    for row in (3 + 2 * label, 4 + 2 * label):
        rows[row] = [255] * SIDE
    return [pixel for row in rows for pixel in row]


def write_data(folder, train, test, zipped=False):
    noise = random.Random(1)
    write = (lambda path, content: gzip.open(f"{path}.gz", "wb").write(content)) if zipped else pathlib.Path.write_bytes
    for name, count in (("train", train), ("t10k", test)):
        labels = [i % 10 for i in range(count)]
        pixels = [pixel for label in labels for pixel in banded(label, noise)]
        write(folder / f"{name}-images-idx3-ubyte", idx(8, (count, SIDE, SIDE), pixels))
        write(folder / f"{name}-labels-idx1-ubyte", idx(8, (count,), labels))


class ImageClassification(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.data = self.folder / "data"
        self.data.mkdir()

    def run_program(self, output="out", **options):
        options = TINY | {"data": self.data, "output_dir": self.folder / output} | options
        return programs.run("image_classification", *flags(options))

    def train(self, output="out", **options):
        process = self.run_program(output, **options)
        self.assertEqual(process.returncode, 0, process.stderr)
        return process.stdout.splitlines()

    def error(self, **options):
        process = self.run_program(**options)
        self.assertEqual(process.returncode, 1)
        self.assertEqual(len(process.stderr.splitlines()), 1, process.stderr)
        return process.stderr.strip().replace(str(self.folder), "@")

    def test_learns_the_bands_and_prints_the_confusion_table(self):
        write_data(self.data, train=320, test=50)
        lines = self.train(learning_rate=0.01)
        self.assertEqual(len(lines), 12)
        table = [[int(word) for word in line.split()[1:]] for line in lines[1:11]]
        self.assertEqual([sum(row) for row in table], [5] * 10)
        right = sum(table[i][i] for i in range(10))
        self.assertEqual(lines[11], f"accuracy {right / 50:.4f} on 50 test images")
        self.assertGreaterEqual(right, 40)
        accuracies = logged(self.folder / "out", "eval_accuracy")
        self.assertEqual(len(accuracies), 6)
        self.assertAlmostEqual(accuracies[-1], right / 50)

    def test_gzipped_files_workers_a_seed_and_augmentation(self):
        write_data(self.data, train=48, test=10)
        plain = self.train("plain", num_train_epochs=2)
        weights = (self.folder / "plain" / "model.safetensors").read_bytes()
        for file in self.data.iterdir():
            file.unlink()
        write_data(self.data, train=48, test=10, zipped=True)
        self.assertEqual(self.train("zipped", num_train_epochs=2), plain)
        self.assertEqual((self.folder / "zipped" / "model.safetensors").read_bytes(), weights)
        self.assertEqual(self.train("workers", num_train_epochs=2, dataloader_num_workers=2), plain)
        self.assertEqual((self.folder / "workers" / "model.safetensors").read_bytes(), weights)
        for name, options in (("seed", {"seed": 7}), ("still", {"shift": 0}), ("same_side", {"flip": False})):
            self.train(name, num_train_epochs=2, **options)
            self.assertNotEqual((self.folder / name / "model.safetensors").read_bytes(), weights, name)

    def test_arguments_come_from_flags_and_files(self):
        write_data(self.data, train=32, test=10)
        arguments = self.folder / "a.json"
        arguments.write_text(json.dumps({"learning_rate": 0.5, "num_train_epochs": 1}))
        self.train(args_file=arguments, num_train_epochs=2)
        saved = json.loads((self.folder / "out" / "training_args.json").read_text())
        self.assertEqual((saved["learning_rate"], saved["num_train_epochs"]), (0.5, 2))
        help_text = programs.run("image_classification", "--help").stdout
        for flag in ("--data", "--shift", "--flip", "--label_smoothing_factor", "--args_file"):
            self.assertIn(flag, help_text)

    def test_data_that_are_missing_or_wrong(self):
        self.assertEqual(
            self.error(data=self.folder / "none"),
            "error: there is no folder @/none: apt-get install dataset-fashion-mnist makes "
            "/usr/share/datasets/fashion-mnist, or give another folder with --data",
        )
        self.assertIn("error: @/data has no train-images-idx3-ubyte", self.error())
        write_data(self.data, train=20, test=10)
        (self.data / "t10k-labels-idx1-ubyte").write_bytes(idx(8, (10,), [10] * 10))
        self.assertEqual(self.error(), "error: @/data: there must be images, with labels from 0 to 9")
        (self.data / "train-images-idx3-ubyte").write_bytes(idx(8, (20, 1, 1), [0] * 20))
        self.assertEqual(self.error(), "error: @/data: the net needs images of 28 x 28 pixels with one channel")


if __name__ == "__main__":
    unittest.main()
