#!/usr/bin/env python3
"""Writes each program of Markdown files (a cpp block that has a main) to FOLDER/readme_program_N.cpp.

    extract.py FOLDER PAGE...
"""
import pathlib
import re
import sys

folder = pathlib.Path(sys.argv[1])
text = "\n".join(pathlib.Path(page).read_text() for page in sys.argv[2:])
programs = [block for block in re.findall(r"```cpp\n(.*?)```", text, re.DOTALL) if "int main(" in block]
for number, program in enumerate(programs, 1):
    path = folder / f"readme_program_{number}.cpp"
    if not path.exists() or path.read_text() != program:
        path.write_text(program)
print(len(programs))
