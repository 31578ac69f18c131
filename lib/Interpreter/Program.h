//===- Program.h - Flat form of one step of a definition --------*- C++ -*-===//
//
// A step `R[i, j] = expr` is evaluated for a block of elements (lanes) at a
// time. An expression becomes a list of instructions on registers; a register
// is either varying, with one word per lane, or uniform, with one word in all.
// Reduction variables are uniform, so the address of `A[i, k]` is a varying
// part, computed once, plus a uniform part that the loop over k updates:
//
//   region 0:  v1 = i * 7; u1 = 0; u2 = 0; v5 = 0.0
//              loop k (u0) to 7 over region 1
//   region 1:  v3 = load A at v1 + u0
//              v4 = ...
//              v5 = v5 + v3 * v4
//
// Every instruction lies in the outermost region in which its operands are
// known. Loads check their bounds and give 0 outside: what a select or a guard
// leaves out may address anything.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_INTERPRETER_PROGRAM_H
#define ESPALIER_LIB_INTERPRETER_PROGRAM_H

#include "Elements.h"
#include "espalier/Definition/Definition.h"
#include "espalier/Definition/Evaluate.h"
#include "espalier/Interpreter/Interpreter.h"
#include <vector>

namespace espalier::interpreter {

constexpr unsigned kLanes = 256;

/// The content of a register.
union Word {
  int64_t integer;
  double real;
};

struct Register {
  bool isVarying;
  unsigned number;
};

enum class Opcode {
  FloatFn,        ///< dst = fn(a, b) on reals.
  FloatPredicate, ///< dst = fn(a, b) on reals, an integer.
  IntegerFn,      ///< dst = fn(a, b) on integers of the format.
  AddScaled,      ///< dst = a + b * immediate, on integers.
  Select,         ///< dst = a ? b : c.
  IntegerToFloat,
  FloatToInteger,
  ConvertInteger,
  RoundFloat, ///< dst = a, rounded to `kind`.
  Load,       ///< dst = tensor[a + b + immediate], 0 outside.
  Copy,       ///< dst = a.
  Accumulate, ///< dst = fn(dst, a) where b (if `isGuarded`) holds.
  SkipUnless, ///< Leaves the region unless the uniform a holds.
  Loop,       ///< For a in 0 .. immediate: runs `region`.
};

struct Instruction {
  Opcode opcode;
  definition::ScalarFn fn = definition::ScalarFn::Add;
  bool isFloat = false;
  bool isGuarded = false;
  bool isContiguous = false; ///< Load: lane l is at a[0] + l.
  definition::IntegerFormat format;
  ElementKind kind = ElementKind::F64;
  Register dst{false, 0}, a{false, 0}, b{false, 0}, c{false, 0};
  int64_t immediate = 0;
  unsigned tensor = 0;
  unsigned region = 0;

  explicit Instruction(Opcode opcode) : opcode(opcode) {}
};

/// One step, compiled for given sizes.
struct Program {
  std::vector<std::vector<Instruction>> regions;
  std::vector<Word> uniforms; ///< Initial contents.
  unsigned numVarying = 0;
  /// Registers that hold the indices of the step's element; those not used are
  /// absent.
  std::vector<std::optional<Register>> indices;
  std::optional<Register> linear; ///< The row-major number of the element.
  Register result{false, 0};
  ElementKind resultKind = ElementKind::F64;
  llvm::SmallVector<int64_t> extents;
  std::optional<unsigned> recurrence;
};

/// The tensors that a program's loads refer to.
struct Buffer {
  const char *data;
  int64_t numElements;
  ElementKind kind;
};

/// Compiles step `number`. `shapes` are those of the operands and then of the
/// steps; `definition` has no sizes or parameters left.
mlir::FailureOr<Program>
compile(const definition::Step &step,
        llvm::ArrayRef<llvm::SmallVector<int64_t>> shapes,
        llvm::ArrayRef<ElementKind> kinds, unsigned numOperands,
        Rounding rounding, llvm::function_ref<void(const llvm::Twine &)> error);

/// Runs a program with scratch registers of its own.
class Executor {
public:
  explicit Executor(const Program &program);

  /// Computes all elements; of a recurrence, those at `time`.
  void run(llvm::ArrayRef<Buffer> tensors, char *result, int64_t time = 0);

private:
  void fillIndices(int64_t first, unsigned count, int64_t time);
  void runRegion(unsigned region);
  void runInstruction(const Instruction &instruction);
  void runAccumulate(const Instruction &instruction);
  void store(char *result, int64_t first, unsigned count, int64_t time);
  Word *get(Register reg) {
    // Of an instruction with fewer operands, registers need not be there.
    return reg.isVarying ? varying.data() + size_t(reg.number) * kLanes
                         : uniforms.data() + reg.number;
  }

  const Program &program;
  llvm::ArrayRef<Buffer> tensors;
  std::vector<Word> uniforms, varying;
  unsigned numLanes = 0;
};

} // namespace espalier::interpreter

#endif // ESPALIER_LIB_INTERPRETER_PROGRAM_H
