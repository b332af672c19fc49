"""The example causal_lm as people use it: files in, files out, and one line when something is wrong."""

import json
import math
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
import programs
from programs import BIN, causal_lm, causal_lm_error, flags, logged, state_of, write_examples

TINY = {
    "n_layer": 1,
    "n_head": 2,
    "n_embd": 16,
    "block_size": 16,
    "per_device_train_batch_size": 4,
    "logging_steps": 1,
    "use_cpu": True,
}
TEXT = b"In the beginning God created the heaven and the earth. " * 20
CASE_CONFIG = {"n_layer": 1, "n_head": 2, "n_embd": 8, "n_positions": 6, "vocab_size": 11}


class InFolder(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        return path

    def train(self, output, **options):
        """Trains a tiny model and returns the output folder."""
        causal_lm(output_dir=self.folder / output, **(TINY | options))
        return self.folder / output


def read_safetensors(path):
    """The header and the data of a file."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def write_safetensors(path, header, data):
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


class Files(InFolder):
    def test_training_on_text_lowers_the_loss_and_fills_the_output_folder(self):
        text = self.file("t.txt", TEXT)
        output = self.train(
            "out", train_file=text, validation_file=text, num_train_epochs=4, learning_rate=1e-2, eval_strategy="epoch"
        )
        losses = logged(output, "loss")
        self.assertAlmostEqual(losses[0], math.log(256), delta=0.5)
        self.assertLess(losses[-1], 3.0)
        self.assertEqual(len(logged(output, "eval_loss")), 4)
        names = {path.name for path in output.iterdir()}
        self.assertLessEqual({"model.safetensors", "config.json", "trainer_state.json", "training_args.json"}, names)
        self.assertEqual(json.loads((output / "config.json").read_text())["n_embd"], 16)
        self.assertEqual(json.loads((output / "training_args.json").read_text())["learning_rate"], 1e-2)

    def test_text_is_cut_into_blocks_and_a_rest_of_one_byte_is_left_out(self):
        for length, blocks in ((48, 3), (49, 3), (50, 4)):
            text = self.file("t.txt", TEXT[:length])
            output = self.train("out", train_file=text, num_train_epochs=1, per_device_train_batch_size=1)
            self.assertEqual(state_of(output)["global_step"], blocks, length)

    def test_tokens_of_a_bin_file_train_as_the_same_tokens_of_a_jsonl(self):
        tokens = [(7 * i * i + i) % 300 for i in range(48)]
        binary = self.file("t.bin", struct.pack("<48H", *tokens))
        lines = write_examples(self.folder / "t.jsonl", [{"input_ids": tokens[i : i + 16]} for i in range(0, 48, 16)])
        options = {"vocab_size": 300, "num_train_epochs": 2, "per_device_train_batch_size": 2}
        first = self.train("first", train_file=binary, **options)
        second = self.train("second", train_file=lines, **options)
        self.assertEqual(logged(first, "loss"), logged(second, "loss"))
        self.assertEqual((first / "model.safetensors").read_bytes(), (second / "model.safetensors").read_bytes())

    def test_the_last_shorter_block_trains_as_the_same_tokens_of_a_jsonl(self):
        text = self.file("t.txt", TEXT[:20])
        blocks = [list(TEXT[:16]), list(TEXT[16:20])]
        lines = write_examples(self.folder / "t.jsonl", [{"input_ids": block} for block in blocks])
        first = self.train("first", train_file=text, num_train_epochs=2)
        second = self.train("second", train_file=lines, num_train_epochs=2)
        self.assertEqual(logged(first, "loss"), logged(second, "loss"))

    def test_a_label_of_minus_100_is_not_counted(self):
        ids = list(b"abcdefgh")
        lines = write_examples(self.folder / "t.jsonl", [{"input_ids": ids, "labels": [-100] * 4 + ids[4:]}])
        whole = write_examples(self.folder / "w.jsonl", [{"input_ids": ids}])
        masked = self.train("masked", train_file=lines, num_train_epochs=1)
        unmasked = self.train("unmasked", train_file=whole, num_train_epochs=1)
        self.assertNotEqual(logged(masked, "loss"), logged(unmasked, "loss"))

    def test_a_loss_over_padded_batches_is_the_mean_over_tokens(self):
        lengths = (3, 9, 16, 2, 5)
        lines = write_examples(self.folder / "t.jsonl", [{"input_ids": list(TEXT[:length])} for length in lengths])
        model = self.train("model", train_file=lines, num_train_epochs=1)
        losses = [
            causal_lm(model_name_or_path=model, validation_file=lines, per_device_eval_batch_size=size, use_cpu=True)
            for size in (1, 2, 5)
        ]
        values = [float(line.split()[1]) for line in losses]
        self.assertAlmostEqual(values[0], values[1], places=5)
        self.assertAlmostEqual(values[0], values[2], places=5)

    def test_a_run_can_be_repeated_and_another_seed_gives_another_model(self):
        text = self.file("t.txt", TEXT)
        runs = [
            self.train(f"run{i}", train_file=text, max_steps=3, dropout=0.1, seed=seed)
            for i, seed in enumerate((1, 1, 2))
        ]
        weights = [(run / "model.safetensors").read_bytes() for run in runs]
        self.assertEqual(weights[0], weights[1])
        self.assertNotEqual(weights[0], weights[2])

    def test_the_last_evaluation_is_printed_and_made_where_the_log_has_none(self):
        text = self.file("t.txt", TEXT)
        options = TINY | {
            "train_file": text,
            "validation_file": text,
            "max_steps": 2,
            "output_dir": self.folder / "out",
        }
        without = causal_lm(**options)
        logged_too = causal_lm(**options, eval_strategy="steps", eval_steps=2)
        self.assertEqual(without, logged_too)
        self.assertEqual(without, f"eval_loss {logged(self.folder / 'out', 'eval_loss')[-1]:.6g}\n")

    def test_a_flag_wins_over_the_args_file(self):
        text = self.file("t.txt", TEXT)
        arguments = self.file("a.json", b'{"max_steps": 5, "learning_rate": 0.5}')
        output = self.train("out", train_file=text, args_file=arguments, learning_rate=0.25)
        self.assertEqual(state_of(output)["global_step"], 5)
        self.assertEqual(logged(output, "learning_rate")[0], 0.25)

    def test_other_fields_of_config_json_are_kept(self):
        text = self.file("t.txt", TEXT)
        first = self.train("first", train_file=text, max_steps=1)
        config = json.loads((first / "config.json").read_text())
        (first / "config.json").write_text(json.dumps(config | {"bos_token_id": 3, "dtype": "float16"}))
        causal_lm(
            model_name_or_path=first, train_file=text, output_dir=self.folder / "second", max_steps=1, use_cpu=True
        )
        again = json.loads((self.folder / "second" / "config.json").read_text())
        self.assertEqual((again["bos_token_id"], again["dtype"]), (3, "float32"))


class Stopping(InFolder):
    def setUp(self):
        super().setUp()
        self.options = TINY | {
            "train_file": self.file("t.txt", TEXT * 4),
            "max_steps": 400,
            "save_steps": 50,
            "save_total_limit": 2,
            "dropout": 0.1,
            "disable_tqdm": True,
        }

    def start(self, output):
        words = [str(BIN / "causal_lm"), *flags(self.options | {"output_dir": self.folder / output})]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        while process.poll() is None and not (self.folder / output / "checkpoint-50").exists():
            time.sleep(0.005)
        return process

    def test_a_signal_saves_and_the_run_goes_on_to_the_same_bits(self):
        causal_lm(**(self.options | {"output_dir": self.folder / "whole"}))
        for signal_number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
            output = f"stopped-{code}"
            process = self.start(output)
            process.send_signal(signal_number)
            _, errors = process.communicate()
            self.assertEqual(process.returncode, code, errors)
            self.assertFalse((self.folder / output / "model.safetensors").exists())
            causal_lm(**(self.options | {"output_dir": self.folder / output, "resume_from_checkpoint": "true"}))
            whole, resumed = self.folder / "whole", self.folder / output
            self.assertEqual((whole / "model.safetensors").read_bytes(), (resumed / "model.safetensors").read_bytes())
            self.assertEqual(logged(whole, "loss"), logged(resumed, "loss"))

    def test_a_checkpoint_is_a_model_folder(self):
        output = self.train("out", **(self.options | {"max_steps": 2, "save_steps": 1}))
        self.assertEqual(sorted(path.name for path in output.glob("checkpoint-*")), ["checkpoint-1", "checkpoint-2"])
        causal_lm(model_name_or_path=output / "checkpoint-1", generate=3)

    def test_a_path_that_is_no_checkpoint_is_one_line(self):
        options = self.options | {"output_dir": self.folder / "out", "resume_from_checkpoint": self.folder / "none"}
        self.assertIn("there is no such folder", causal_lm_error(*flags(options)))


class Generation(InFolder):
    def setUp(self):
        super().setUp()
        # 25 letters: blocks of 16 begin with each of them.
        letters = self.file("t.txt", b"abcdefghijklmnopqrstuvwxy" * 40)
        self.model = self.train("model", train_file=letters, num_train_epochs=10, learning_rate=1e-2)

    def sample(self, **options):
        return causal_lm(model_name_or_path=self.model, **options)

    def test_a_trained_folder_continues_what_it_has_learnt(self):
        self.assertEqual(self.sample(generate=20, prompt="klm", temperature=0), "klmnopqrstuvwxyabcdefgh\n")

    def test_a_seed_gives_the_same_text_again(self):
        options = {"generate": 60, "temperature": 1.5, "top_k": 0}
        self.assertEqual(self.sample(seed=1, **options), self.sample(seed=1, **options))
        self.assertNotEqual(self.sample(seed=1, **options), self.sample(seed=2, **options))

    def test_an_empty_prompt_is_refused(self):
        error = causal_lm_error(*flags({"model_name_or_path": self.model, "generate": 1, "prompt": ""}))
        self.assertEqual(error, "error: prompt is empty: give at least one character")


class Errors(InFolder):
    def error(self, **options):
        """The message for these flags, with the test's folder written as @."""
        line = causal_lm_error(*flags({"output_dir": self.folder / "out", "disable_tqdm": True} | options))
        return line.replace(str(self.folder), "@")

    def data_error(self, name, content, **options):
        return self.error(train_file=self.file(name, content), **(TINY | options))

    def model_error(self, **config):
        """For a folder with this config and no weights."""
        self.file("config.json", json.dumps(CASE_CONFIG | config).encode())
        return self.error(model_name_or_path=self.folder, generate=1)

    def test_nothing_to_do(self):
        self.assertEqual(self.error(), "error: nothing to do: give --train_file, --validation_file or --generate")
        self.assertEqual(
            self.error(generate=5),
            "error: a new model knows nothing: give --train_file, or --model_name_or_path for a trained one",
        )

    def test_a_wrong_flag(self):
        self.assertIn("--lerning_rate", self.error(lerning_rate=1))

    def test_a_wrong_field_in_the_args_file(self):
        error = self.error(train_file=self.file("t.txt", TEXT), args_file=self.file("a.json", b'{"lerning_rate": 1}'))
        self.assertIn("lerning_rate", error)
        self.assertIn("learning_rate", error)

    def test_missing_files(self):
        self.assertEqual(
            self.error(train_file=self.folder / "no.txt"),
            "error: cannot read @/no.txt: No such file or directory; give the path of a readable file",
        )
        self.assertEqual(
            self.error(train_file=self.folder / "no.jsonl"),
            "error: cannot read @/no.jsonl: No such file or directory; give the path of a readable file",
        )
        self.assertEqual(
            self.error(model_name_or_path=self.folder, generate=1),
            "error: cannot read @/config.json: a GPT-2 folder needs this file",
        )

    def test_an_unknown_kind_of_file(self):
        self.assertEqual(
            self.data_error("t.csv", b"a"),
            "error: @/t.csv has an unknown kind: its name must end in .txt, .jsonl or .bin",
        )

    def test_empty_files(self):
        self.assertEqual(self.data_error("t.txt", b""), "error: @/t.txt has 0 tokens: at least 2 are needed")
        self.assertEqual(self.data_error("t.bin", b""), "error: @/t.bin has 0 tokens: at least 2 are needed")
        self.assertEqual(
            self.data_error("t.jsonl", b"\n\n"), "error: @/t.jsonl has no examples: give it a line for each"
        )

    def test_a_bin_file_of_half_tokens(self):
        self.assertEqual(
            self.data_error("t.bin", b"abc"), "error: @/t.bin has 3 bytes: tokens of 2 bytes do not fill it"
        )

    def test_tokens_beyond_the_vocabulary(self):
        self.assertEqual(
            self.data_error("t.bin", struct.pack("<3H", 1, 2, 256)),
            "error: @/t.bin: token 256 at position 2 is beyond the model's vocab_size of 256",
        )
        self.assertEqual(
            self.data_error("t.txt", b"abc", vocab_size=98),
            "error: @/t.txt: token 98 at position 1 is beyond the model's vocab_size of 98",
        )
        line = b'{"input_ids": [1, 2]}\n'
        self.assertEqual(
            self.data_error("t.jsonl", line + b'{"input_ids": [1, 256]}'),
            "error: @/t.jsonl line 2: token 256 in input_ids is beyond the model's vocab_size of 256",
        )
        self.assertEqual(
            self.data_error("t.jsonl", line + b'{"input_ids": [1], "labels": [-1]}'),
            "error: @/t.jsonl line 2: token -1 in labels is beyond the model's vocab_size of 256",
        )

    def test_damaged_lines(self):
        for line, reason in (
            (b'{"input_ids": [1, 2}', "it must be a JSON object with input_ids"),
            (b"[1, 2]", "it must be a JSON object with input_ids"),
            (b'{"input": [1]}', "it must be a JSON object with input_ids"),
            (b'{"input_ids": 1}', "input_ids must be a list of tokens"),
            (b'{"input_ids": [1.5]}', "input_ids holds 1.5: it must be a token"),
            (b'{"input_ids": []}', "input_ids is empty"),
            (b'{"input_ids": [1, 2], "labels": [1]}', "it has 2 input_ids but 1 labels"),
            (json.dumps({"input_ids": [1] * 17}).encode(), "it has 17 tokens, but the model has only n_positions 16"),
        ):
            self.assertEqual(
                self.data_error("t.jsonl", b'\n{"input_ids": [1, 2]}\n' + line + b"\n"),
                "error: @/t.jsonl line 3: " + reason,
            )

    def test_a_block_longer_than_the_model(self):
        model = self.train("model", train_file=self.file("t.txt", TEXT), max_steps=1)
        self.assertEqual(
            self.error(model_name_or_path=model, train_file=self.folder / "t.txt", block_size=17),
            "error: block_size is 17: the model's n_positions allows at most 16",
        )

    def test_sizes_that_no_model_has(self):
        self.assertEqual(
            self.data_error("t.txt", TEXT, n_embd=15),
            "error: n_embd is 15: it must be a multiple of n_head, which is 2",
        )
        self.assertEqual(self.data_error("t.txt", TEXT, dropout=1), "error: resid_pdrop is 1: it must be in [0, 1)")

    def test_a_config_of_another_kind(self):
        for field, value, allowed in (
            ("model_type", "llama", '["gpt2"]'),
            ("activation_function", "relu", '["gelu_new","gelu_pytorch_tanh"]'),
            ("tie_word_embeddings", False, "[true]"),
            ("scale_attn_weights", False, "[true]"),
            ("scale_attn_by_inverse_layer_idx", True, "[false]"),
        ):
            self.assertEqual(
                self.model_error(**{field: value}),
                f"error: @/config.json: {field} is {json.dumps(value)}: this program has only {allowed}",
            )

    def test_a_wrong_config(self):
        self.assertEqual(self.model_error(n_layer="2"), 'error: @/config.json: n_layer is "2": it must be a number')
        self.assertEqual(self.model_error(n_head=0), "error: @/config.json: n_head is 0: it must be 1 or more")
        self.assertEqual(self.model_error(n_inner=-1), "error: @/config.json: n_inner is -1: it must be 1 or more")
        self.file("config.json", b"{")
        self.assertEqual(
            self.error(model_name_or_path=self.folder, generate=1), "error: @/config.json is not a JSON object"
        )

    def test_weights_that_are_missing_damaged_or_do_not_fit(self):
        model = self.train("model", train_file=self.file("t.txt", TEXT), max_steps=1)
        header, data = read_safetensors(model / "model.safetensors")

        def error_with(new_header, new_data=data):
            write_safetensors(model / "model.safetensors", new_header, new_data)
            return self.error(model_name_or_path=model, generate=1).replace("@/model/model.safetensors", "W")

        other = {name.replace("wpe", "wpx"): entry for name, entry in header.items()}
        self.assertEqual(error_with(other), 'error: W has no tensor "wpe.weight"; it has 16 others')
        extra = header | {"extra": {"dtype": "F32", "shape": [0], "data_offsets": [len(data), len(data)]}}
        self.assertEqual(error_with(extra), "error: W has a tensor extra that this model has not")
        turned = header | {"transformer.wpe.weight": header["transformer.wpe.weight"] | {"shape": [8, 32]}}
        self.assertEqual(
            error_with(turned), "error: W: transformer.wpe.weight has shape [8,32], but config.json asks for [16,16]"
        )
        self.assertIn("the file may be cut short", error_with(header, data[:-1]))
        (model / "model.safetensors").unlink()
        self.assertEqual(
            self.error(model_name_or_path=model, generate=1),
            "error: cannot read @/model/model.safetensors: No such file or directory; give the path of a readable file",
        )

    def test_text_cannot_be_sampled_from_tokens_that_are_no_bytes(self):
        lines = self.file("t.jsonl", b'{"input_ids": [1, 2]}')
        model = self.train("model", train_file=lines, vocab_size=11)
        self.assertEqual(
            self.error(model_name_or_path=model, generate=1),
            "error: this model has 11 tokens: only one whose tokens are the 256 bytes can generate text",
        )


class Dropout(InFolder):
    """Each of the three probabilities changes the training loss, and none the evaluation loss."""

    def test_each_probability_of_the_config_is_honoured(self):
        text = self.file("t.txt", TEXT)
        model = self.train("model", train_file=text, max_steps=1)
        config = json.loads((model / "config.json").read_text())
        losses = {}
        for name in ("none", "resid_pdrop", "embd_pdrop", "attn_pdrop"):
            (model / "config.json").write_text(json.dumps(config | {name: 0.5}))
            output = self.folder / name
            causal_lm(
                model_name_or_path=model,
                train_file=text,
                validation_file=text,
                output_dir=output,
                max_steps=1,
                learning_rate=0,
                logging_steps=1,
                eval_strategy="epoch",
                use_cpu=True,
            )
            losses[name] = (logged(output, "loss")[0], logged(output, "eval_loss")[0])
        self.assertEqual(len({train for train, _ in losses.values()}), 4)
        self.assertEqual(len({evaluation for _, evaluation in losses.values()}), 1)


MISSING = programs.skip_without("torch", "transformers", "safetensors")


@unittest.skipIf(MISSING, MISSING)
class SameAsPython(InFolder):
    """The folder and the logits of transformers' GPT2LMHeadModel."""

    def setUp(self):
        super().setUp()
        self.examples = [
            {"input_ids": [(7 * i + row) % 96 for i in range(length)]} for row, length in enumerate((16, 3, 1))
        ]
        self.lines = write_examples(self.folder / "t.jsonl", self.examples)

    def assert_same_logits(self, folder):
        import torch
        import transformers

        process = programs.run("gpt2_logits", folder, self.lines)
        self.assertEqual(process.returncode, 0, process.stderr)
        model = transformers.GPT2LMHeadModel.from_pretrained(folder).eval()
        for example, line in zip(self.examples, process.stdout.splitlines(), strict=True):
            with torch.no_grad():
                expected = model(torch.tensor([example["input_ids"]])).logits[0]
            difference = (torch.tensor(json.loads(line)) - expected).abs().max().item()
            self.assertLess(difference, 1e-5)

    def python_model(self, **config):
        import torch
        import transformers

        torch.manual_seed(3)
        settings = {
            "n_layer": 2,
            "n_head": 4,
            "n_embd": 32,
            "n_positions": 16,
            "vocab_size": 96,
            "initializer_range": 0.2,
            "bos_token_id": 1,
            "eos_token_id": 1,
        }
        return transformers.GPT2LMHeadModel(transformers.GPT2Config(**(settings | config)))

    def test_python_loads_a_new_model_that_was_trained_here(self):
        output = self.train("out", train_file=self.lines, num_train_epochs=3, learning_rate=1e-2)
        self.assert_same_logits(output)

    def test_python_loads_its_own_model_after_more_training_here(self):
        self.python_model().save_pretrained(self.folder / "python")
        causal_lm(
            model_name_or_path=self.folder / "python",
            train_file=self.lines,
            output_dir=self.folder / "out",
            num_train_epochs=3,
            learning_rate=1e-2,
            use_cpu=True,
        )
        self.assert_same_logits(self.folder / "python")
        self.assert_same_logits(self.folder / "out")

    def test_another_inner_width_and_epsilon_are_honoured(self):
        self.python_model(n_inner=50, layer_norm_epsilon=0.1).save_pretrained(self.folder / "python")
        self.assert_same_logits(self.folder / "python")

    def test_names_without_the_prefix_and_redundant_tensors_are_read(self):
        import safetensors.torch
        import torch

        model = self.python_model()
        model.save_pretrained(self.folder / "python")
        path = self.folder / "python" / "model.safetensors"
        tensors = {
            name.removeprefix("transformer."): value for name, value in safetensors.torch.load_file(path).items()
        }
        tensors["h.0.attn.bias"] = torch.ones(1, 1, 16, 16, dtype=torch.bool).tril()
        tensors["h.0.attn.masked_bias"] = torch.tensor(-1e4)
        safetensors.torch.save_file(tensors, path, metadata={"format": "pt"})
        self.assert_same_logits(self.folder / "python")

    def test_python_reads_the_safetensors_file_and_its_metadata(self):
        import safetensors

        output = self.train("out", train_file=self.lines, max_steps=1)
        with safetensors.safe_open(output / "model.safetensors", "pt") as file:
            self.assertEqual(file.metadata(), {"format": "pt"})
            self.assertEqual(file.get_tensor("transformer.wpe.weight").shape, (16, 16))


if __name__ == "__main__":
    unittest.main()
