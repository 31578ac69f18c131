//===- KernelEmitter.h - From fusion groups to poly.kernel ------*- C++ -*-===//

#ifndef ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_EMIT_KERNELEMITTER_H
#define ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_EMIT_KERNELEMITTER_H

#include "../StatementList.h"
#include "SizeParameters.h"
#include "espalier/Dialect/Poly/IR/Poly.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

namespace espalier::graphtopoly {

/// The extents of an array in memory.
llvm::ArrayRef<mlir::AffineExpr> getStoredExtents(const Array &array);

/// The memory of an array; `sizes` receives the dynamic extents.
mlir::MemRefType
getMemRefType(const Array &array,
              llvm::SmallVectorImpl<mlir::AffineExpr> *sizes = nullptr);

/// What is written of a program.
enum class Form {
  /// Kernels whose accesses are to memory.
  Memory,
  /// Kernels on arrays, whose layouts, and what else steps have decided, are
  /// attributes (StepAttributes.h).
  Attributes,
};

/// The names of the loops over a statement, a different one for each; null if
/// none has one.
mlir::ArrayAttr getDimNames(mlir::Builder &builder, const Statement &statement);

/// Writes one kernel.
class KernelEmitter {
public:
  /// `facts` has the attributes of each array; it is empty in `Form::Memory`.
  /// `isAlwaysRun`: whether the program calls the kernel in any case, so that
  /// what it states of data can be checked before.
  KernelEmitter(StatementList &program, const FusionGroup &fusionGroup,
                const llvm::DenseSet<ArrayId> &escaping,
                const SizeParameters::Extents &extents,
                llvm::ArrayRef<mlir::DictionaryAttr> facts, bool isAlwaysRun)
      : program(program), fusionGroup(fusionGroup), escaping(escaping),
        facts(facts), isAlwaysRun(isAlwaysRun), parameters(program, extents) {}

  void emit(mlir::OpBuilder &builder, llvm::StringRef name);

  /// What the call passes: arrays, then the parameters.
  llvm::ArrayRef<SizeParameters::Parameter> getParameters() const {
    return parameters.getAll();
  }
  llvm::SmallVector<ArrayId> arguments;
  poly::KernelOp kernel;

private:
  void collect();
  /// From the program's symbols to the kernel's; dimensions and data symbols
  /// (numbered after the program's) stay in their order.
  mlir::AffineExpr toKernel(mlir::AffineExpr expr) const {
    return parameters.rewrite(expr, parameters.size());
  }
  mlir::IntegerSet getDomain(const Statement &statement,
                             const Conjunction &rules);
  /// How many loops are around those over a statement's dimensions: that over
  /// the levels, if there are some.
  static unsigned getNumOuter(const Statement &statement) {
    return statement.levels ? 1 : 0;
  }
  /// Whether a loop over the nodes of a level counts them from its begin.
  bool canCountFromLevels() const;
  bool isCounted(const Statement &statement) const {
    return statement.levels && countsFromLevels;
  }
  /// Whether an array is the kernel's own, and each step of the recurrence that
  /// `statement` belongs to uses its own elements alone. Each then has the
  /// memory of the step before.
  bool isOfOneStep(const Statement &statement, ArrayId array) const;
  void findStepArrays();
  /// A statement that is run level by level; null if there is none.
  const Statement *findLevelStatement() const {
    for (unsigned number : fusionGroup.statements)
      if (program.statements[number].levels)
        return &program.statements[number];
    return nullptr;
  }
  mlir::Value emitArray(mlir::OpBuilder &builder, ArrayId array);
  /// Whether the kernel can state what the data of a recurrence must be: it is
  /// there before the program runs, and looked at then.
  bool canStateData() const;
  /// A place along its recurrence that a statement reads what the recurrence
  /// computes at: affine in the statement's dimensions and, as symbols after
  /// the program's, elements of inputs.
  struct EarlierRead {
    unsigned statement;
    const Piece *piece;
    mlir::AffineExpr number;
    llvm::SmallVector<Expr> data;
  };
  void findEarlierReads();
  void findEarlierReads(unsigned number, const Piece &piece);
  /// `index` without limits, and in terms of inputs instead of what was
  /// computed of them.
  Expr traceToInputs(Expr index, unsigned numSteps = 8) const;
  /// Adds a statement about `reads` at the points of `domain`, of which the
  /// first dimension is that over levels, if there are some.
  void give(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
            mlir::ArrayAttr dims, mlir::IntegerSet domain,
            mlir::IntegerSet where, llvm::ArrayRef<poly::ComputeAccess> reads,
            mlir::IntegerSet holds);
  /// States what must hold of data so that each point of a recurrence is
  /// computed, and after those that it reads.
  void emitGivens(mlir::OpBuilder &builder);
  /// Levels are intervals of nodes.
  void emitLevelBounds(mlir::OpBuilder &builder, const Statement &statement);
  void emitEarlierRead(mlir::OpBuilder &builder, const EarlierRead &earlier);
  /// A map from a computation's loops, for expressions on the statement's
  /// dimensions and the kernel's symbols, of which `numValues` are read.
  mlir::AffineMap getMap(const Statement &statement,
                         llvm::ArrayRef<mlir::AffineExpr> exprs,
                         unsigned numValues = 0) const;
  /// The same for an access to `array` with these indices, which depend on
  /// values if `isIndirect`; `numReads` come before it.
  mlir::AffineMap getAccessMap(const Statement &statement, ArrayId array,
                               llvm::ArrayRef<mlir::AffineExpr> indices,
                               bool isIndirect, unsigned numReads) const;
  /// The reads of where a level begins and ends, and that a point lies between.
  void addLevel(const Statement &statement,
                llvm::SmallVectorImpl<poly::ComputeAccess> &reads) const;
  void addLevelRules(const Statement &statement,
                     llvm::SmallVectorImpl<mlir::AffineExpr> &rules) const;
  /// The same for the entries of a row.
  void addRow(const Statement &statement,
              llvm::SmallVectorImpl<poly::ComputeAccess> &reads) const;
  void addRowRules(const Statement &statement,
                   llvm::SmallVectorImpl<mlir::AffineExpr> &rules) const;
  /// Which points run by what these reads give; nothing if all do.
  std::optional<mlir::IntegerSet> getWhere(const Statement &statement) const;
  /// States what is known of the values of argument `number`.
  void setValues(const Array &array, unsigned number);
  mlir::Value getMemory(ArrayId array) { return memory.lookup(array); }
  /// The element that a statement computes, in memory.
  mlir::AffineMap getTargetMap(const Statement &statement, unsigned numReads);
  void emitStatement(mlir::OpBuilder &builder, const Statement &statement,
                     unsigned number);
  void emitPiece(mlir::OpBuilder &builder, const Statement &statement,
                 const Piece &piece, llvm::StringRef name);

  StatementList &program;
  const FusionGroup &fusionGroup;
  const llvm::DenseSet<ArrayId> &escaping;
  llvm::ArrayRef<mlir::DictionaryAttr> facts;
  bool isAlwaysRun;
  bool countsFromLevels = false;
  llvm::SmallSetVector<ArrayId, 8> local;
  /// Those of one step, and whether a loop over levels is around.
  llvm::DenseMap<ArrayId, bool> stepArrays;
  llvm::SmallVector<EarlierRead> earlierReads;
  SizeParameters parameters;
  llvm::DenseMap<ArrayId, mlir::Value> memory;
};

/// A program, cut into kernels.
struct DispatchVariant {
  StatementList program;
  llvm::SmallVector<FusionGroup> fusionGroups;
};

/// Checks that kernels write every element of a result, and of an array that is
/// read, before; reports one that is left out.
mlir::LogicalResult verifyWritten(const DispatchVariant &variant);

/// Writes the kernels in `Form::Attributes`, `@main` on memrefs and
/// `@main_plan`, replacing the function. If `choice` is not null, its condition
/// chooses between two versions; otherwise there is one.
mlir::LogicalResult emitKernels(llvm::MutableArrayRef<DispatchVariant> variants,
                                mlir::scf::IfOp choice);

/// Writes the kernels of versions that were read from `main`, and their calls
/// at the ends of `blocks`.
mlir::LogicalResult emitKernels(llvm::MutableArrayRef<DispatchVariant> variants,
                                mlir::func::FuncOp main,
                                llvm::ArrayRef<mlir::Block *> blocks,
                                Form form);

} // namespace espalier::graphtopoly

#endif // ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_EMIT_KERNELEMITTER_H
