//===- Fixture.h - Programs for the tests of the engine ---------*- C++ -*-===//

#ifndef ESPALIER_TEST_UNIT_POLYHEDRAL_FIXTURE_H
#define ESPALIER_TEST_UNIT_POLYHEDRAL_FIXTURE_H

#include "espalier/Polyhedral/Program.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>

namespace espalier::polyhedral {

/// Parses affine maps, integer sets and attributes from text.
class PolyhedralTest : public ::testing::Test {
protected:
  mlir::AffineMap map(llvm::StringRef text) {
    auto attr = llvm::dyn_cast_or_null<mlir::AffineMapAttr>(
        attribute("affine_map<" + text.str() + ">"));
    return attr ? attr.getValue() : mlir::AffineMap();
  }
  mlir::IntegerSet set(llvm::StringRef text) {
    auto attr = llvm::dyn_cast_or_null<mlir::IntegerSetAttr>(
        attribute("affine_set<" + text.str() + ">"));
    return attr ? attr.getValue() : mlir::IntegerSet();
  }
  mlir::Attribute attribute(llvm::StringRef text) {
    return mlir::parseAttribute(text, &context);
  }
  Statement statement(llvm::StringRef name, mlir::IntegerSet domain) {
    Statement result;
    result.name = name.str();
    result.numDims = domain.getNumDims();
    result.domain = {domain};
    return result;
  }

  /// C[i, j] = sum(k) A[i, k] * B[k, j] with parameters M, N, K: statements
  /// init, update and store, through a local array (number 3).
  Program matmul() {
    Program program;
    program.context = &context;
    program.numParams = 3;
    mlir::IntegerSet space = set("(i, j)[M, N, K] : (i >= 0, M - 1 - i >= 0, "
                                 "j >= 0, N - 1 - j >= 0)");
    mlir::IntegerSet points =
        set("(i, j, k)[M, N, K] : (i >= 0, M - 1 - i >= 0, j >= 0, "
            "N - 1 - j >= 0, k >= 0, K - 1 - k >= 0)");
    mlir::AffineMap element = map("(i, j)[M, N, K] -> (i, j)");
    mlir::AffineMap result = map("(i, j, k)[M, N, K] -> (i, j)");
    Statement init = statement("init", space);
    init.writes = {{3, element}};
    Statement update = statement("update", points);
    update.reads = {{0, map("(i, j, k)[M, N, K] -> (i, k)")},
                    {1, map("(i, j, k)[M, N, K] -> (k, j)")},
                    {3, result}};
    update.writes = {{3, result}};
    update.isReduction = true;
    Statement store = statement("store", space);
    store.reads = {{3, element}};
    store.writes = {{2, element}};
    program.statements = {init, update, store};
    return program;
  }

  mlir::MLIRContext context;
};

} // namespace espalier::polyhedral

#endif // ESPALIER_TEST_UNIT_POLYHEDRAL_FIXTURE_H
