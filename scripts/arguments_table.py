#!/usr/bin/env python3
"""Writes the table of TrainingArguments, as the code has it, between the two marks in a Markdown file.

    arguments_table.py [--check] [--program build/release/bin/lope_arguments_table] [--file README.md]

With --check it writes nothing and fails when the file's table is not the code's.
"""
import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BEGIN = "<!-- training arguments: written by scripts/arguments_table.py -->\n"
END = "<!-- end of training arguments -->\n"


def with_table(text, table):
    """The text with the table between its marks; ValueError where the marks are not there."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"has no two lines {BEGIN.strip()} and {END.strip()} for the table")
    return before + BEGIN + "\n" + table + "\n" + END + after


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--program", default=ROOT / "build/release/bin/lope_arguments_table")
    parser.add_argument("--file", type=pathlib.Path, default=ROOT / "README.md")
    options = parser.parse_args()
    try:
        table = subprocess.run([options.program], check=True, capture_output=True, text=True).stdout
        old = options.file.read_text()
        new = with_table(old, table)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"error: {error}")
    except ValueError as error:
        sys.exit(f"error: {options.file} {error}")
    if options.check and old != new:
        sys.exit(f"error: the table in {options.file} is not the code's: run scripts/arguments_table.py")
    if not options.check:
        options.file.write_text(new)


if __name__ == "__main__":
    main()
