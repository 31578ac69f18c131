"""Goes on from the block of the tutorial that has the kernel."""

from pathlib import Path

from espalier import _espalier
from espalier.schedules import select

script = select(Path("sketch.mlir").read_text(), {"rows": 14, "sum": 0})
Path("script.mlir").write_text(script)
module = matmul.module()  # noqa: F821
Path("kernel.mlir").write_text(str(module))
_espalier.transform(module, script)
Path("replayed.mlir").write_text(str(module))
