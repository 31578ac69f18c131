//===- ProgramBuilder.h - Builds the functions of a program -----*- C++ -*-===//
//
// A program is two functions (Program.h): @main works on memory, inputs first
// and then outputs; @main_plan computes the extents of the outputs from those
// of the inputs. Whatever a program is made of, they are declared here.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_CONVERSION_LOOPSTOPROGRAM_PROGRAMBUILDER_H
#define ESPALIER_CONVERSION_LOOPSTOPROGRAM_PROGRAMBUILDER_H

#include "espalier/Conversion/LoopsToProgram/Program.h"

namespace espalier {

/// Returns the type in memory of elements of `type`: truth values take a byte,
/// and integers have no sign.
mlir::Type getStoredType(mlir::Type type);

/// Declares the functions of one program. All arguments are added before the
/// functions are made.
class ProgramBuilder {
public:
  /// Of functions called `name` and `name`_plan.
  ProgramBuilder(mlir::Location loc, llvm::StringRef name)
      : loc(loc), name(name) {}
  /// Of those that take the place of `original`, a function on ranked tensors,
  /// with the attributes of its arguments and results.
  explicit ProgramBuilder(mlir::func::FuncOp original);

  /// Adds an argument, with attributes of Program.h or none.
  void addInput(mlir::MemRefType type, mlir::DictionaryAttr attrs = {}) {
    inputs.push_back({type, attrs});
  }
  void addOutput(mlir::MemRefType type, mlir::DictionaryAttr attrs = {}) {
    outputs.push_back({type, attrs});
  }
  unsigned getNumInputs() const { return inputs.size(); }

  /// Makes @main, whose block is empty.
  mlir::func::FuncOp makeMain(mlir::OpBuilder &builder) const;
  /// Makes @main_plan, whose block is empty and is to return the extents of
  /// all outputs, one after the other.
  mlir::func::FuncOp makePlan(mlir::OpBuilder &builder) const;
  /// Returns the argument of `plan` that is an extent of an input.
  mlir::Value getExtent(mlir::func::FuncOp plan, unsigned input,
                        unsigned dim) const;

private:
  struct Argument {
    mlir::MemRefType type;
    mlir::DictionaryAttr attrs;
  };
  mlir::Location loc;
  std::string name;
  llvm::SmallVector<Argument> inputs, outputs;
};

} // namespace espalier

#endif // ESPALIER_CONVERSION_LOOPSTOPROGRAM_PROGRAMBUILDER_H
