//===- Execute.h - Kernels run point by point -------------------*- C++ -*-===//
//
// Two ways to run a kernel on the same data: the points of its computations in
// program order, which is the definition; and the loops that scan its schedule,
// those that are parallel in any order of iterations.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_TEST_UNIT_DIALECT_POLY_FUZZ_EXECUTE_H
#define ESPALIER_TEST_UNIT_DIALECT_POLY_FUZZ_EXECUTE_H

#include "Random.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "espalier/Polyhedral/Ast.h"
#include "espalier/Polyhedral/Storage.h"
#include "llvm/ADT/DenseMap.h"

namespace espalier::poly::fuzz {

using Point = llvm::SmallVector<int64_t, 4>;

using polyhedral::evaluate;

/// The values of what `map` results in.
Point evaluate(mlir::AffineMap map, llvm::ArrayRef<int64_t> dims,
               llvm::ArrayRef<int64_t> symbols);
bool contains(mlir::IntegerSet set, llvm::ArrayRef<int64_t> dims,
              llvm::ArrayRef<int64_t> symbols);

/// A point of a computation.
struct Instance {
  unsigned statement;
  Point point;
};

/// All points of all domains, in program order. Of random kernels, those
/// with coordinates from -1 to the larger of 12 and the parameters, to which
/// they confine themselves.
std::vector<Instance> enumerate(const KernelModel &model,
                                llvm::ArrayRef<int64_t> parameters);

/// What an argument holds at first: small numbers for the type i32, as indices,
/// any others for i64. Monotonic ones do not decrease.
int64_t getInitialValue(mlir::BlockArgument argument,
                        llvm::ArrayRef<int64_t> element);

/// The elements of arrays that have been written, by array and place.
class Memory {
public:
  explicit Memory(const KernelModel &model);

  /// The value; of a local array's element that has not been written, one that
  /// depends on how many such reads there were, which `hasUndefinedRead` says.
  int64_t read(unsigned array, llvm::ArrayRef<int64_t> place);
  void write(unsigned array, llvm::ArrayRef<int64_t> place, int64_t value);
  bool hasUndefinedRead() const { return numUndefined > 0; }

  using Values = llvm::DenseMap<uint64_t, int64_t>;
  Values &getValues(unsigned array) { return values[array]; }
  /// Lets an array hold at first what an argument of another kernel does, or
  /// nothing.
  void setOrigin(unsigned array, mlir::BlockArgument argument) {
    origins[array] = argument;
  }
  /// The first element of an argument that differs; nothing if all agree. The
  /// other memory may be that of another kernel with the same arguments.
  std::optional<std::string> findDifference(Memory &other);
  /// One more than the largest index of each dimension that was touched.
  Point getShape(unsigned array) const { return shapes[array]; }
  /// Whether an element was touched that no array has.
  bool hasNegativeIndex() const { return hasNegative; }

private:
  const KernelModel &model;
  std::vector<Values> values;
  std::vector<Point> shapes;
  /// The arguments that say what the arrays hold at first.
  std::vector<mlir::BlockArgument> origins;
  uint64_t numUndefined = 0;
  bool hasNegative = false;

  void touch(unsigned array, llvm::ArrayRef<int64_t> place);
  /// The value of an argument of the kernel, used or not.
  int64_t readArgument(mlir::BlockArgument argument,
                       llvm::ArrayRef<int64_t> place);
};

/// One number per element of an array, and back for those of up to three
/// dimensions.
uint64_t encode(llvm::ArrayRef<int64_t> place);
Point decode(uint64_t key, unsigned rank);

/// Runs statements of one kernel, with these values of its parameters.
class Statements {
public:
  Statements(const KernelModel &model, llvm::ArrayRef<int64_t> parameters);

  /// Whether what is read allows a point of the domain to run.
  bool runs(const Instance &instance, Memory &memory, bool isStored) const;
  /// The values that a point reads.
  Point read(const Instance &instance, Memory &memory, bool isStored) const;
  /// Computes from what was read, and writes.
  void finish(const Instance &instance, llvm::ArrayRef<int64_t> reads,
              Memory &memory, bool isStored) const;
  /// The reads of what a reduction accumulates into, if it is one.
  llvm::SmallVector<unsigned> getAccumulators(unsigned statement) const;
  llvm::ArrayRef<int64_t> getParameters() const { return parameters; }
  const KernelModel &getModel() const { return model; }
  /// The storage map of an array, or null.
  mlir::AffineMap getStorage(unsigned array) const { return storages[array]; }
  /// The elements that the accesses of a point touch, reads first.
  std::vector<std::pair<unsigned, Point>> getElements(const Instance &instance,
                                                      Memory &memory) const;

private:
  int64_t readOne(const polyhedral::Access &access, const Instance &instance,
                  llvm::ArrayRef<int64_t> symbols, Memory &memory,
                  bool isStored) const;

  /// One operation of a body: its operands are values computed before.
  struct Step {
    mlir::Operation *op;
    llvm::SmallVector<unsigned> operands;
    int64_t number; ///< A constant, or a dimension.
  };
  struct Body {
    std::vector<Step> steps;
    llvm::SmallVector<unsigned> yields;
  };
  static Body compile(ComputeOp compute);

  const KernelModel &model;
  llvm::SmallVector<int64_t> parameters;
  std::vector<Body> bodies;
  std::vector<mlir::AffineMap> storages;
};

/// Runs the kernel by its definition.
void runReference(const Statements &statements, Memory &memory);
inline Memory runReference(const Statements &statements) {
  Memory memory(statements.getModel());
  runReference(statements, memory);
  return memory;
}

/// Runs `ast`. Parallel loops run backwards without `random`, else in a random
/// order; `privateLoops` are those with memory for each iteration, for each of
/// the program's storages. Sets `fault` if the loops do what they must not,
/// such as running more lanes than the loop's kind says.
void runLoops(const Statements &statements, const polyhedral::AstNode &ast,
              llvm::ArrayRef<polyhedral::LoopSet> privateLoops, Random *random,
              Memory &memory, std::string &fault);

} // namespace espalier::poly::fuzz

#endif // ESPALIER_TEST_UNIT_DIALECT_POLY_FUZZ_EXECUTE_H
