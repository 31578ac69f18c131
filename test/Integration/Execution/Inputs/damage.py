"""Damages the only file of a folder: damage.py <folder> <first byte>|empty|half."""

import pathlib
import sys

folder, where = sys.argv[1:]
(path,) = pathlib.Path(folder).glob("*.espalier")
data = bytearray(path.read_bytes())
if where == "empty":
    data.clear()
elif where == "half":
    del data[len(data) // 2 :]
else:
    first = int(where)
    data[first : first + 4] = bytes(byte ^ 0xFF for byte in data[first : first + 4])
path.write_bytes(data)
