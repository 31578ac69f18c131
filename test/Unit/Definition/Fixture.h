//===- Fixture.h - What tests of definitions share --------------*- C++ -*-===//

#ifndef ESPALIER_TEST_UNIT_DEFINITION_FIXTURE_H
#define ESPALIER_TEST_UNIT_DEFINITION_FIXTURE_H

#include "espalier/Definition/Notation.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

namespace espalier::definition {

/// Parses definitions over operands A, B, .. and remembers the last error.
class DefinitionFixture : public ::testing::Test {
protected:
  static constexpr int64_t kDynamic = mlir::ShapedType::kDynamic;

  mlir::RankedTensorType tensor(llvm::ArrayRef<int64_t> shape,
                                mlir::Type elementType) {
    return mlir::RankedTensorType::get(shape, elementType);
  }
  mlir::RankedTensorType tensor(llvm::ArrayRef<int64_t> shape) {
    return tensor(shape, f32);
  }

  mlir::FailureOr<Definition>
  parse(llvm::StringRef text, llvm::ArrayRef<mlir::RankedTensorType> types) {
    error.clear();
    instantiation.context = &context;
    instantiation.operands.clear();
    for (auto [number, type] : llvm::enumerate(types))
      instantiation.operands.push_back(
          {std::string(1, static_cast<char>('A' + number)), type});
    return parseDefinition(text, instantiation, [&](const llvm::Twine &reason) {
      error += error.empty() ? reason.str() : "; more";
    });
  }

  /// The definition as text, or the error.
  std::string show(llvm::StringRef text,
                   llvm::ArrayRef<mlir::RankedTensorType> types) {
    mlir::FailureOr<Definition> definition = parse(text, types);
    if (failed(definition))
      return "error: " + error;
    std::string result;
    llvm::raw_string_ostream os(result);
    print(*definition, os);
    return result;
  }

  mlir::MLIRContext context;
  mlir::Type f16 = mlir::Float16Type::get(&context);
  mlir::Type f32 = mlir::Float32Type::get(&context);
  mlir::Type i32 = mlir::IntegerType::get(&context, 32);
  mlir::Type index = mlir::IndexType::get(&context);
  Instantiation instantiation;
  std::string error;
};

} // namespace espalier::definition

#endif // ESPALIER_TEST_UNIT_DEFINITION_FIXTURE_H
