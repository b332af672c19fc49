#!/usr/bin/env python3
"""Writes each program of a Markdown file (a cpp block that has a main) to FOLDER/readme_program_N.cpp.

    extract.py README.md FOLDER
"""
import pathlib
import re
import sys

text = pathlib.Path(sys.argv[1]).read_text()
folder = pathlib.Path(sys.argv[2])
programs = [block for block in re.findall(r"```cpp\n(.*?)```", text, re.DOTALL) if "int main(" in block]
for number, program in enumerate(programs, 1):
    path = folder / f"readme_program_{number}.cpp"
    if not path.exists() or path.read_text() != program:
        path.write_text(program)
print(len(programs))
