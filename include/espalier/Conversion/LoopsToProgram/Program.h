//===- Program.h - What a module says about its program ---------*- C++ -*-===//
//
// The attributes by which @main and @main_plan describe a program, and the
// transformations from stage `loops` to stage `program`.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_CONVERSION_LOOPSTOPROGRAM_PROGRAM_H
#define ESPALIER_CONVERSION_LOOPSTOPROGRAM_PROGRAM_H

#include "espalier-c/Runtime.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace espalier {

/// Offsets in the arena and in the blob of constants are multiples of this.
constexpr int64_t kBufferAlignment = 64;

constexpr llvm::StringLiteral kMainName = "main";
constexpr llvm::StringLiteral kPlanName = "main_plan";
/// Checks the data of inputs: takes those of @main, then a record of
/// `ESPALIER_RECORD_SIZE` numbers. A module need not have it.
constexpr llvm::StringLiteral kCheckName = "main_check";

// On arguments of @main.
constexpr llvm::StringLiteral kNameAttr = "espalier.name";
constexpr llvm::StringLiteral kDimsAttr = "espalier.dims";
constexpr llvm::StringLiteral kDtypeAttr = "espalier.dtype";
/// All values are from 0 to less than this number, or the extent of that name;
/// or, of an array of a name and a number, than their sum.
constexpr llvm::StringLiteral kBoundAttr = "espalier.bound";
/// No value occurs twice.
constexpr llvm::StringLiteral kInjectiveAttr = "espalier.injective";
/// No value is less than the one before it.
constexpr llvm::StringLiteral kMonotonicAttr = "espalier.monotonic";
constexpr llvm::StringLiteral kArenaAttr = "espalier.arena";
constexpr llvm::StringLiteral kConstantsArgAttr = "espalier.constants";
/// A record of `ESPALIER_RECORD_SIZE` numbers, zeros at first, behind the
/// outputs: what checks find of data that the program makes.
constexpr llvm::StringLiteral kRecordAttr = "espalier.record";
// On @main.
constexpr llvm::StringLiteral kNumInputsAttr = "espalier.num_inputs";
// On @main_plan.
constexpr llvm::StringLiteral kPlanMessagesAttr = "espalier.plan_messages";
/// How many numbers of a message a checked plan returns behind the arena's
/// size.
constexpr unsigned kNumPlanValues = ESPALIER_PLAN_VALUES;
// On @main_check: what it says, and the checks that @main makes.
constexpr llvm::StringLiteral kCheckMessagesAttr = "espalier.check_messages";
// On the module.
constexpr llvm::StringLiteral kConstantsAttr = "espalier.constants";
constexpr llvm::StringLiteral kConstantOffsetsAttr =
    "espalier.constant_offsets";

/// An input or output at the boundary.
struct TensorSignature {
  std::string name;
  /// One of `espalier_dtype`.
  int32_t dtype = 0;
  /// -1 where the extent is only known to the run.
  std::vector<int64_t> extents;
  /// One name per extent, empty for an extent without a name.
  std::vector<std::string> symbols;
  /// What the values, which are integers, are less than, if they are bounded;
  /// with a symbol, the extent of this name is added.
  bool isBounded = false;
  int64_t bound = 0;
  std::string boundSymbol;
  bool isInjective = false;
  bool isMonotonic = false;
};

/// What callers of a program have to know.
struct ProgramSignature {
  std::string name;
  std::vector<TensorSignature> inputs;
  std::vector<TensorSignature> outputs;
  std::vector<std::string> planMessages;
  std::vector<std::string> checkMessages;
};

/// The two functions of a program.
struct ProgramFunctions {
  mlir::func::FuncOp main;
  mlir::func::FuncOp plan;
};

/// Finds the two functions of `module`. Reports an error at the module when
/// one is missing, is only declared, or has several blocks.
mlir::FailureOr<ProgramFunctions> findProgram(mlir::ModuleOp module);

/// Reads the signature off @main and @main_plan. Checks everything that
/// `program-verify-loops` promises and reports what is wrong.
mlir::FailureOr<ProgramSignature> readSignature(mlir::ModuleOp module);

/// Returns the `espalier_dtype` of elements of type `type`; fails for a type
/// that is not in the table.
mlir::FailureOr<int32_t> getDtype(mlir::Type type);

/// Lets @main allocate the buffers of kernels of at least `minBytes`, or of
/// run-time size, and returns their number (see -program-hoist-scratch). On
/// failure an error was reported and the module is to be thrown away.
mlir::FailureOr<unsigned> hoistScratch(mlir::ModuleOp module,
                                       uint64_t minBytes);

/// Places the buffers of @main in an arena (see -program-plan-memory) and
/// returns their number. On failure an error was reported and the module is to
/// be thrown away.
mlir::FailureOr<unsigned> planMemory(mlir::ModuleOp module,
                                     bool separate = false);

/// What `packConstants` did.
struct PackedConstants {
  unsigned numConstants = 0;
  unsigned numShared = 0;
};

/// Moves the constants of @main into the attributes of `module` (see
/// -program-pack-constants). On failure an error was reported and the module
/// is to be thrown away.
mlir::FailureOr<PackedConstants> packConstants(mlir::ModuleOp module);

/// Makes @main_plan checked (see -program-check-sizes). On failure an error was
/// reported and the module is to be thrown away.
mlir::LogicalResult checkSizes(mlir::ModuleOp module);

/// Returns the number of bytes of the blob of `module`'s constants, 0 when it
/// has none.
uint64_t getConstantsSize(mlir::ModuleOp module);

/// Calls `write(offset, bytes)` for the bytes of each constant of `module`, in
/// the order of their offsets. What lies between them is zero.
void writeConstants(
    mlir::ModuleOp module,
    llvm::function_ref<void(uint64_t offset, llvm::ArrayRef<char> bytes)>
        write);

} // namespace espalier

#endif // ESPALIER_CONVERSION_LOOPSTOPROGRAM_PROGRAM_H
