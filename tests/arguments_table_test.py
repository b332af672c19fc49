"""The README's table of TrainingArguments is the one that the code prints."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "scripts" / "arguments_table.py"
PROGRAM = pathlib.Path(os.environ.get("LOPE_BIN_DIR", ROOT / "build/release/bin")) / "lope_arguments_table"


def run(*arguments):
    command = [sys.executable, SCRIPT, "--program", PROGRAM, *arguments]
    return subprocess.run(command, capture_output=True, text=True)


class ArgumentsTable(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "a.md"

    def test_writes_every_row_between_the_marks_and_then_finds_it_right(self):
        marks = "<!-- training arguments: written by scripts/arguments_table.py -->\n<!-- end of training arguments -->\n"
        self.file.write_text("before\n" + marks + "after\n")
        self.assertIn("is not the code's", run("--check", "--file", self.file).stderr)
        self.assertEqual(run("--file", self.file).returncode, 0)
        text = self.file.read_text()
        self.assertTrue(text.startswith("before\n") and text.endswith("after\n"))
        row = "| `learning_rate` | `5e-05` | a number of 0 or more | Highest learning rate, before the schedule. |"
        self.assertIn(row, text.splitlines())
        self.assertEqual(text.count("\n| `"), 53)
        self.assertEqual(run("--check", "--file", self.file).returncode, 0)

    def test_a_file_without_marks_is_refused(self):
        self.file.write_text("nothing")
        result = run("--file", self.file)
        self.assertEqual(result.returncode, 1)
        self.assertIn("has no two lines", result.stderr)

    def test_the_readme_has_the_table_of_the_code(self):
        result = run("--check")
        self.assertEqual(result.returncode, 0, result.stderr)


if __name__ == "__main__":
    unittest.main()
