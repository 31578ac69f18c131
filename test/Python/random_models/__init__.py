"""Random ONNX models, compiled, interpreted and run by onnxruntime.

    PYTHONPATH=build/python:test/Python build/venv/bin/python -m random_models --count 2000

A seed is a model. A recipe (`recipes_*.py`) adds one node; it draws operands among
the values there are, or new ones, and attributes. Each node is evaluated at once
(`evaluate.py`), so that recipes know what they draw from and models stay where ONNX
and onnxruntime have one answer. `compiling.py` compiles, `judge.py` compares,
`minimize.py` makes a finding smaller, `search.py` runs many seeds in processes that may
crash or hang.
"""
