"""Runs the GoogleTest programs that espalier_add_unittest() builds."""

import lit.formats

config.name = "Espalier unit"
config.test_format = lit.formats.GoogleTest(".", "Tests")
config.suffixes = []
config.excludes = []
config.test_exec_root = config.espalier_obj_root + "/test/Unit"
config.test_source_root = config.test_exec_root
