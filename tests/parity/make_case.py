#!/usr/bin/env python3
"""Makes a reference run: what Hugging Face's Trainer does with a tiny GPT-2, dropout 0 and data in their stored order.

    make_case.py FOLDER --seed 3 --rows 40 --lengths 4:48 gradient_accumulation_steps=4 lr_scheduler_type=cosine

    make_case.py FOLDER --again CASE

The second form runs an existing case once more, which shows what the Python Trainer gives on this machine.

Fields of TrainingArguments come last, as name=value (JSON, or else text). FOLDER gets

    model.safetensors, config.json          the weights before the run
    train.jsonl, eval.jsonl                 the examples
    args.json                               the arguments
    expected.json, expected.safetensors     the log and the weights after the run

The Python Trainer counts the first token of each example among the targets although nothing predicts it. It is given
labels in which that token is masked, so that its mean is over the tokens that are predicted.
"""

import argparse
import json
import pathlib
import shutil
import tempfile

import torch
import transformers

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()

IGNORED = -100
DEFAULTS = {
    "per_device_train_batch_size": 4,
    "gradient_accumulation_steps": 1,
    "learning_rate": 3e-3,
    "weight_decay": 0.0,
    "num_train_epochs": 1.0,
    "logging_steps": 1,
    "lr_scheduler_type": "linear",
    "optim": "adamw_torch",
}


class Examples(torch.utils.data.Dataset):
    """Examples with the first label masked."""

    def __init__(self, examples):
        self.examples = [dict(example, labels=[IGNORED] + example["labels"][1:]) for example in examples]

    def __len__(self):
        return len(self.examples)

    def __getitem__(self, index):
        return self.examples[index]


def pad(examples):
    """A right-padded batch."""
    longest = max(len(example["input_ids"]) for example in examples)

    def padded(values, fill):
        return torch.tensor([list(row) + [fill] * (longest - len(row)) for row in values])

    ids = [example["input_ids"] for example in examples]
    return {
        "input_ids": padded(ids, 0),
        "attention_mask": padded([[1] * len(row) for row in ids], 0),
        "labels": padded([example["labels"] for example in examples], IGNORED),
    }


def random_examples(generator, rows, lengths, vocab_size, mask_prompts):
    def integer(low, high):
        return int(torch.randint(low, high + 1, (1,), generator=generator))

    examples = []
    for _ in range(rows):
        ids = torch.randint(2, vocab_size, (integer(*lengths),), generator=generator).tolist()
        masked = integer(0, len(ids) - 2) if mask_prompts else 0
        examples.append({"input_ids": ids, "labels": [IGNORED] * masked + ids[masked:]})
    return examples


def tiny_gpt2(options):
    torch.manual_seed(options.seed)
    config = transformers.GPT2Config(
        vocab_size=options.vocab_size,
        n_positions=options.n_positions,
        n_embd=options.n_embd,
        n_layer=options.n_layer,
        n_head=options.n_head,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=1,
        eos_token_id=1,
    )
    return transformers.GPT2LMHeadModel(config)


def loss_per_token(model, examples):
    """The mean over all target tokens, whatever the batches."""
    total, count = 0.0, 0
    model.eval()
    with torch.no_grad():
        for example in examples:
            batch = pad([example])
            labels = batch.pop("labels")[0, 1:]
            logits = model(**batch).logits[0, :-1].double()
            total += float(torch.nn.functional.cross_entropy(logits, labels, reduction="sum", ignore_index=IGNORED))
            count += int((labels != IGNORED).sum())
    return total / count


def run(model, arguments, train, evaluation):
    """Trains, and returns what expected.json holds."""
    with tempfile.TemporaryDirectory() as scratch:
        trainer = transformers.Trainer(
            model=model,
            data_collator=pad,
            train_dataset=Examples(train),
            eval_dataset=Examples(evaluation) if evaluation else None,
            args=transformers.TrainingArguments(
                output_dir=scratch,
                report_to=[],
                save_strategy="no",
                use_cpu=True,
                disable_tqdm=True,
                train_sampling_strategy="sequential",
                **arguments,
            ),
        )
        trainer.remove_callback(transformers.PrinterCallback)
        result = trainer.train()
    history = [without_speed(entry) for entry in trainer.state.log_history]
    smoothed = arguments.get("label_smoothing_factor", 0)
    return {
        "log_history": history,
        "global_step": trainer.state.global_step,
        "max_steps": trainer.state.max_steps,
        "train_loss": result.training_loss,
        "final_eval_loss_per_token": loss_per_token(model, evaluation) if evaluation and not smoothed else None,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }


def without_speed(entry):
    return {key: value for key, value in entry.items() if not key.endswith(("_runtime", "_per_second"))}


def write_json(path, value):
    path.write_text(json.dumps(value, indent=1))


def write_lines(path, examples):
    path.write_text("".join(json.dumps(example, separators=(",", ":")) + "\n" for example in examples))


def save_weights(model, path):
    with tempfile.TemporaryDirectory() as scratch:
        model.save_pretrained(scratch)
        shutil.copyfile(pathlib.Path(scratch, "model.safetensors"), path)


def read_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def run_again(case, folder):
    """The inputs of a case, and what comes of them here."""
    case, folder = pathlib.Path(case), pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for path in case.iterdir():
        if not path.name.startswith("expected"):
            shutil.copyfile(path, folder / path.name)
    finish_case(folder, transformers.GPT2LMHeadModel.from_pretrained(case))


def finish_case(folder, model):
    """Runs the case whose inputs are in the folder and adds what is expected."""
    arguments = json.loads((folder / "args.json").read_text())
    train, evaluation = read_lines(folder / "train.jsonl"), read_lines(folder / "eval.jsonl")
    write_json(folder / "expected.json", run(model, arguments, train, evaluation))
    save_weights(model, folder / "expected.safetensors")


def make_case(options):
    folder = pathlib.Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    arguments = DEFAULTS | {"seed": options.seed} | dict(options.arguments)
    generator = torch.Generator().manual_seed(options.seed)
    train = random_examples(generator, options.rows, options.lengths, options.vocab_size, options.mask_prompts)
    evaluation = random_examples(
        generator, options.eval_rows, options.eval_lengths or options.lengths, options.vocab_size, options.mask_prompts
    )
    model = tiny_gpt2(options)
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    write_lines(folder / "train.jsonl", train)
    if evaluation:
        write_lines(folder / "eval.jsonl", evaluation)
    write_json(folder / "args.json", arguments)
    finish_case(folder, model)


def length_range(text):
    low, _, high = text.partition(":")
    return int(low), int(high or low)


def argument(text):
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


def parse(flags=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("arguments", nargs="*", type=argument, metavar="NAME=VALUE")
    parser.add_argument("--again", metavar="CASE", help="take everything from this case")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--rows", type=int, default=48)
    parser.add_argument("--lengths", type=length_range, default=(24, 24), metavar="MIN[:MAX]")
    parser.add_argument("--eval_rows", type=int, default=0)
    parser.add_argument("--eval_lengths", type=length_range, metavar="MIN[:MAX]")
    parser.add_argument("--mask_prompts", action="store_true", help="leave out the targets of a part at the start")
    for name, default in (("vocab_size", 96), ("n_positions", 48), ("n_embd", 32), ("n_layer", 2), ("n_head", 4)):
        parser.add_argument(f"--{name}", type=int, default=default)
    return parser.parse_intermixed_args(flags)


if __name__ == "__main__":
    chosen = parse()
    if chosen.again:
        run_again(chosen.again, chosen.folder)
    else:
        make_case(chosen)
