"""An editor that saves a face over and over: `racing_editor.py FILE COUNT rename|inplace`.

Each save reads the file, adds one line of its own and writes it all back, as editors do: by a
new file and a rename, or into the same file. It prints each line that it saved.
"""

import os
import sys
from pathlib import Path


def load(path: Path) -> str:
    while True:
        try:
            return path.read_text(encoding="utf-8")
        except FileNotFoundError:
            continue  # without a swap there is an instant with no file


def save(path: Path, text: str, how: str) -> None:
    if how == "rename":
        draft = path.with_name(f"{path.name}.{os.getpid()}~")
        draft.write_text(text, encoding="utf-8")
        draft.rename(path)
    else:
        path.write_text(text, encoding="utf-8")


def main(path: Path, count: int, how: str) -> None:
    for number in range(count):
        text = load(path)
        if text and not text.endswith("\n"):
            text += "\n"
        save(path, f"{text}- edit {number} of the editor\n", how)
        print(f"edit {number} of the editor", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
