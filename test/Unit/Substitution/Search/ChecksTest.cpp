//===- ChecksTest.cpp - Checks of extents ---------------------------------===//
//
// Emits random conditions on extents, runs them on the reference interpreter,
// and compares with exact arithmetic, for extents of any size.
//
//===----------------------------------------------------------------------===//

#include "Checks/Extents.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "espalier/Interpreter/Interpreter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace espalier;
using namespace espalier::substitution;
using espalier::interpreter::Tensor;

namespace {

using Wide = __int128;

class ChecksTest : public testing::Test {
protected:
  ChecksTest() : builder(&context) {
    context.loadDialect<arith::ArithDialect, func::FuncDialect, scf::SCFDialect,
                        tensor::TensorDialect, graph::GraphDialect>();
  }

  static constexpr unsigned kNumInputs = 3;

  /// Tensors of any extent that have no elements.
  RankedTensorType getInputType(int64_t extent) {
    return RankedTensorType::get({extent, 0}, builder.getI8Type());
  }

  /// Makes a function with as many inputs.
  func::FuncOp makeFunction() {
    Location loc = builder.getUnknownLoc();
    module = ModuleOp::create(loc);
    builder.setInsertionPointToEnd(module->getBody());
    SmallVector<Type> inputs(kNumInputs, getInputType(ShapedType::kDynamic));
    auto output = RankedTensorType::get({1}, builder.getF32Type());
    auto function = func::FuncOp::create(
        builder, loc, "main", builder.getFunctionType(inputs, output));
    builder.setInsertionPointToEnd(function.addEntryBlock());
    return function;
  }

  /// Makes the function return 1 where the clauses hold, else 0.
  void finish(ArrayRef<Clause> clauses, const ExtentTable &extents) {
    Location loc = builder.getUnknownLoc();
    Value holds = emitChecks(clauses, extents, builder, loc);
    auto type = RankedTensorType::get({1}, builder.getF32Type());
    auto choice = scf::IfOp::create(builder, loc, type, holds,
                                    /*addThenBlock=*/true,
                                    /*addElseBlock=*/true);
    for (auto [block, number] : {std::pair(choice.thenBlock(), 1.0f),
                                 std::pair(choice.elseBlock(), 0.0f)}) {
      OpBuilder inner = OpBuilder::atBlockEnd(block);
      Value value = graph::ConstantOp::create(
          inner, loc, DenseElementsAttr::get(type, number));
      scf::YieldOp::create(inner, loc, value);
    }
    func::ReturnOp::create(builder, loc, choice.getResults());
    ASSERT_TRUE(succeeded(verify(*module)));
  }

  bool run(ArrayRef<int64_t> extents) {
    SmallVector<Tensor> inputs;
    for (int64_t extent : extents)
      inputs.push_back(*Tensor::create(getInputType(extent)));
    auto results = interpreter::interpret(*module, inputs);
    EXPECT_TRUE(succeeded(results));
    return succeeded(results) && results->front().getFloat(0) == 1;
  }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
};

Wide evaluate(const Linear &form, const ExtentTable &table,
              ArrayRef<int64_t> extents) {
  Wide result = form.getConstant();
  for (auto [var, coefficient] : form.getTerms()) {
    const ExtentInfo &info = table[var];
    Wide value;
    if (info.isQuotient()) {
      Wide dividend = evaluate(info.dividend, table, extents);
      value = dividend / info.divisor - (dividend % info.divisor < 0);
    } else {
      value = extents[cast<BlockArgument>(info.value).getArgNumber()];
    }
    result += coefficient * value;
  }
  return result;
}

bool holds(ArrayRef<Clause> clauses, const ExtentTable &table,
           ArrayRef<int64_t> extents) {
  auto isInRange = [](int64_t extent) {
    return extent >= 1 && extent <= ExtentTable::kMaxExtent;
  };
  auto isTrue = [&](const Constraint &constraint) {
    Wide value = evaluate(constraint.expr, table, extents);
    return constraint.isEquality ? value == 0 : value >= 0;
  };
  return llvm::all_of(extents, isInRange) &&
         llvm::all_of(clauses, [&](const Clause &clause) {
           return llvm::any_of(clause, [&](const Constraints &alternative) {
             return llvm::all_of(alternative, isTrue);
           });
         });
}

TEST_F(ChecksTest, EmittedChecksAreExact) {
  static constexpr int64_t kExtents[] = {0,
                                         1,
                                         2,
                                         3,
                                         4,
                                         7,
                                         8,
                                         9,
                                         100,
                                         (int64_t(1) << 31) - 2,
                                         (int64_t(1) << 31) - 1,
                                         int64_t(1) << 31,
                                         int64_t(1) << 33,
                                         (int64_t(1) << 62) + 1,
                                         std::numeric_limits<int64_t>::max()};
  std::mt19937 random(1);
  auto pick = [&](int64_t count) { return int64_t(random() % count); };
  unsigned numTrue = 0, numFalse = 0;
  for (unsigned round = 0; round < 150; ++round) {
    func::FuncOp function = makeFunction();
    ExtentTable table;
    std::vector<Linear> variables;
    for (BlockArgument argument : function.getArguments())
      variables.push_back(table.getEntry(argument, 0));
    auto makeForm = [&] {
      Linear form(pick(9) - 4);
      for (unsigned term = 0; term < 2; ++term) {
        int64_t factor =
            pick(8) == 0 ? (int64_t(1) << (20 + pick(12))) : pick(5) - 2;
        form += variables[pick(variables.size())] * factor;
      }
      return form;
    };
    for (unsigned number = 0; number < 2; ++number)
      variables.push_back(table.getQuotient(makeForm(), 1 + pick(4)));
    std::vector<Clause> clauses;
    for (int64_t clause = 0, count = 1 + pick(2); clause < count; ++clause) {
      clauses.emplace_back();
      for (int64_t part = 0, parts = 1 + pick(2); part < parts; ++part)
        clauses.back().push_back(
            {{makeForm(), pick(2) == 0}, {makeForm(), false}});
    }
    bool isComputable = llvm::all_of(clauses, [&](const Clause &clause) {
      return llvm::all_of(clause, [&](const Constraints &alternative) {
        return llvm::all_of(alternative, [&](const Constraint &constraint) {
          return table.isComputable(constraint.expr);
        });
      });
    });
    if (!isComputable)
      continue;
    finish(clauses, table);
    for (unsigned sample = 0; sample < 60; ++sample) {
      SmallVector<int64_t> extents;
      int64_t most = pick(2) ? 9 : std::size(kExtents);
      for (unsigned input = 0; input < kNumInputs; ++input)
        extents.push_back(kExtents[pick(most)]);
      bool expected = holds(clauses, table, extents);
      ++(expected ? numTrue : numFalse);
      ASSERT_EQ(run(extents), expected)
          << toString(clauses.front(), table) << " at " << extents[0] << ", "
          << extents[1] << ", " << extents[2];
    }
  }
  EXPECT_GT(numTrue, 100u);
  EXPECT_GT(numFalse, 1000u);
}

TEST_F(ChecksTest, WhatMayOverflowIsNotComputed) {
  func::FuncOp function = makeFunction();
  ExtentTable table;
  Linear n = table.getEntry(function.getArgument(0), 0);
  EXPECT_TRUE(table.isComputable(n * (int64_t(1) << 30)));
  EXPECT_FALSE(table.isComputable(n * (int64_t(1) << 32)));
  EXPECT_FALSE(table.isComputable(n + std::numeric_limits<int64_t>::max()));
  EXPECT_FALSE(table.isComputable(n + std::numeric_limits<int64_t>::min()));
  // Of a quotient, what is divided is computed, too.
  Linear large = n * (int64_t(1) << 32);
  EXPECT_FALSE(table.isComputable(table.getQuotient(large, 1000000)));
  EXPECT_FALSE(table.isComputable(table.makeUnknown()));
  EXPECT_FALSE(table.isComputable(n * std::numeric_limits<int64_t>::max() * 2));
  builder.clearInsertionPoint();
}

TEST_F(ChecksTest, NamedExtentsAreOne) {
  func::FuncOp function = makeFunction();
  auto name = [&](unsigned argument, StringRef text) {
    function.setArgAttr(argument, "espalier.dims",
                        builder.getStrArrayAttr({text, ""}));
  };
  name(0, "n");
  name(1, "m");
  name(2, "n");
  ExtentTable table;
  Linear n = table.getEntry(function.getArgument(0), 0);
  EXPECT_FALSE(table.getEntry(function.getArgument(1), 0) == n);
  EXPECT_TRUE(table.getEntry(function.getArgument(2), 0) == n);
  EXPECT_FALSE(table.getEntry(function.getArgument(0), 1) ==
               table.getEntry(function.getArgument(2), 1));
}

} // namespace
