//===- Commands.h - Scheduling commands -------------------------*- C++ -*-===//
//
// A command edits the schedule tree of a kernel; some also edit its arrays and
// computations. Each is tried on a copy and checked against exact dependences
// first: if it would change what the kernel computes, or cannot be applied, the
// kernel stays as it was and the error is a `Refusal`.
//
// Loops are called by the computation that they run and their name. A kernel
// without schedule starts from program order, whose loops are called like the
// dimensions of the computations. Bands are shared: what is done to a loop is
// done for all computations of its band.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_DIALECT_POLY_TRANSFORMS_COMMANDS_H
#define ESPALIER_DIALECT_POLY_TRANSFORMS_COMMANDS_H

#include "espalier/Dialect/Poly/Transforms/Script.h"
#include "espalier/Polyhedral/Dependence.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"

namespace espalier::poly {

/// Why a command was not applied.
class Refusal : public llvm::ErrorInfo<Refusal> {
public:
  static char ID;

  explicit Refusal(const llvm::Twine &message,
                   std::optional<polyhedral::Violation> violation = {},
                   mlir::DictionaryAttr encodedViolation = {})
      : message(message.str()), violation(std::move(violation)),
        encodedViolation(encodedViolation) {}

  void log(llvm::raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override;
  /// The dependence that would be broken, if that is the reason.
  const std::optional<polyhedral::Violation> &getViolation() const {
    return violation;
  }
  /// The kernel as it would be, if what is wrong with it is the order in which
  /// points run or share memory; null otherwise.
  KernelOp getAttempt() const { return attempt ? attempt->get() : KernelOp(); }
  void setAttempt(mlir::OwningOpRef<KernelOp> kernel) {
    attempt = std::make_shared<mlir::OwningOpRef<KernelOp>>(std::move(kernel));
  }
  /// The same with names: `encodeViolation` of it, or null.
  mlir::DictionaryAttr getEncodedViolation() const { return encodedViolation; }
  /// Adds what would be legal.
  void addHint(const llvm::Twine &hint) { message += "; " + hint.str(); }

private:
  std::string message;
  std::optional<polyhedral::Violation> violation;
  std::shared_ptr<mlir::OwningOpRef<KernelOp>> attempt;
  mlir::DictionaryAttr encodedViolation;
};

/// A refusal with this message.
llvm::Error refuse(const llvm::Twine &message);

/// Applies `edit` to `kernel`, which then has a schedule with named loops, if
/// the result is valid, keeps all dependences and passes `check`, as the mode
/// of `script` says. `edit` is called twice, first for a copy; it finds what it
/// works on by name, and may leave a half edited kernel behind when it fails.
llvm::Error applyChecked(KernelOp kernel,
                         llvm::function_ref<llvm::Error(KernelOp)> edit,
                         llvm::function_ref<llvm::Error(KernelOp)> check = {},
                         Script *script = nullptr);

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Splits a loop into one more than `factors`: the innermost has
/// `factors.back()` iterations, and so on outwards. They are called `names`, or
/// `i.0`, `i.1`, ... for a loop `i`. Never illegal. The last iteration of a
/// loop may be partial. A parallel loop's outermost part is parallel, a vector
/// loop's innermost part is a vector.
llvm::Error split(ComputeTarget compute, llvm::StringRef loop,
                  llvm::ArrayRef<int64_t> factors,
                  llvm::ArrayRef<llvm::StringRef> names = {});

/// Tiles loops of one nest: `sizes` has for each level, outermost first, the
/// iterations of each loop in one tile; each is a multiple of that below. The
/// loops `i.0` over the tiles take the places of the loops, in the order of
/// `loops`; those inside, `i.1` and so on, follow the last.
llvm::Error tile(ComputeTarget compute, llvm::ArrayRef<llvm::StringRef> loops,
                 llvm::ArrayRef<llvm::SmallVector<int64_t>> sizes);

/// Puts loops of one nest in this order; the others stay where they are.
llvm::Error interchange(ComputeTarget compute,
                        llvm::ArrayRef<llvm::StringRef> loops);

/// Adds to a loop `factors[k]` times the loop `others[k]`, for each k. All
/// computations of the loop run the others.
llvm::Error skew(ComputeTarget compute, llvm::StringRef loop,
                 llvm::ArrayRef<int64_t> factors,
                 llvm::ArrayRef<llvm::StringRef> others);

/// Runs a loop from its end.
llvm::Error reverse(ComputeTarget compute, llvm::StringRef loop);

/// Adds `amount`, an expression of the kernel's parameters, to a loop; for
/// `compute` only, not for the others that share the loop.
llvm::Error shift(ComputeTarget compute, llvm::StringRef loop,
                  mlir::AffineExpr amount);

/// Replaces loops of one nest by the results of `map`, from these loops and the
/// parameters. The results take the places of the loops, outermost first, and
/// are called `into`, or like the loops in the order of `loops`. A result that
/// is one of the loops runs like it, others are sequential.
llvm::Error remap(ComputeTarget compute, llvm::ArrayRef<llvm::StringRef> loops,
                  mlir::AffineMap map,
                  llvm::ArrayRef<llvm::StringRef> into = {});

/// Makes the first of these loops, of one nest, the sum of all, each times its
/// factor (1 without factors), and runs the others in parallel inside.
llvm::Error wavefront(ComputeTarget compute,
                      llvm::ArrayRef<llvm::StringRef> loops,
                      llvm::ArrayRef<int64_t> factors = {});

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

/// Runs `second`'s part of a sequence in the first `numLoops` loops of
/// `first`'s, which comes before it and gives the names; of what these loops
/// leave equal, `first`'s part comes first. Delays the second part as little as
/// keeps the dependences between the two; returns the delay in each loop.
llvm::Expected<llvm::SmallVector<int64_t>>
fuse(ComputeTarget first, ComputeOp second, int64_t numLoops);

/// Distributes a loop, and the loops of its nest inside, over the sequence
/// below the nest: over its parts or, with `at`, over the first `at` of them
/// and the others.
llvm::Error fission(ComputeTarget compute, llvm::StringRef loop,
                    std::optional<int64_t> at = std::nullopt);

/// Moves a part of a sequence, that which runs `compute`, to directly before
/// the one that runs `before`.
llvm::Error moveBefore(ComputeTarget compute, ComputeOp before);

/// Gives those tiles code of their own that no domain cuts: `loops`, of one
/// nest, run over the tiles, loops inside them have constant bounds then.
llvm::Error separateFullTiles(ComputeTarget compute,
                              llvm::ArrayRef<llvm::StringRef> loops);

/// Runs the first `count` iterations of a loop, for each iteration of the loops
/// around it, in a copy of its body. The loops of the copy are called
/// `i.peel` for `i`.
llvm::Error peelFirst(ComputeTarget compute, llvm::StringRef loop,
                      int64_t count);
/// The same for the last iterations.
llvm::Error peelLast(ComputeTarget compute, llvm::StringRef loop,
                     int64_t count);
/// The same for iterations from `bound` on, an expression of the loops `of`,
/// which are around this one, and the kernel's parameters.
llvm::Error cutAt(ComputeTarget compute, llvm::StringRef loop,
                  mlir::AffineExpr bound,
                  llvm::ArrayRef<llvm::StringRef> of = {});

/// Runs a loop with the tree below it in a copy of its own for each number of
/// iterations in `extents`, whichever the loops around it and the sizes say it
/// has. The loops of the copy are called `i.is4` for `i` and 4 iterations.
llvm::Error specializeExtents(ComputeTarget compute, llvm::StringRef loop,
                              llvm::ArrayRef<int64_t> extents);
/// The same for sizes in `condition`, a set without dimensions over the
/// kernel's parameters. The loops of the copy are called `i.when`.
llvm::Error specializeSizes(ComputeTarget compute, llvm::StringRef loop,
                            mlir::IntegerSet condition);

/// Runs what whole tiles leave, at the end of what a loop over tiles cuts, in a
/// copy of the tree whose tiles have `size` iterations: by default all that are
/// left, if that is a number. Lanes of a copy are at most as many. The loops of
/// the copy are called `i.0.rest` for `i.0`.
llvm::Error retile(ComputeTarget compute, llvm::StringRef loop,
                   std::optional<int64_t> size = {});

/// Gives computations, all of a part of a sequence or of the kernel, a new
/// nest: `compute`, then `others`, each with loops that one of `maps` computes
/// from its dimensions and the parameters. The first loops are shared, and
/// called `names`; inside them, the computations run in this order. With
/// `loop`, the part is one that has this loop, for some of the points.
llvm::Error arrange(ComputeTarget compute,
                    llvm::ArrayRef<llvm::StringRef> others,
                    llvm::ArrayRef<mlir::AffineMap> maps,
                    llvm::ArrayRef<llvm::StringRef> names,
                    llvm::StringRef loop = {});

/// Runs the loops of a nest from `loop` inwards as the schedule of
/// `microKernel` says, below a mark with its name. Refused unless they are that
/// kernel: in each iteration of the loops around them they take the values of
/// its domain, access what it accesses, plus an offset, and compute the same at
/// a point.
llvm::Error tensorize(ComputeOp compute, llvm::StringRef loop,
                      KernelOp microKernel);

/// Puts a mark, called `name`, above a loop.
llvm::Error mark(ComputeTarget compute, llvm::StringRef loop,
                 llvm::StringRef name);

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

/// Runs the iterations of a loop on different threads: those of a CPU, or what
/// `kind` says. With `isAtomic`, those of a reduction may meet in an element.
llvm::Error parallelize(ComputeTarget compute, llvm::StringRef loop,
                        LoopKindAttrInterface kind = {}, bool isAtomic = false);

/// Runs the iterations of a loop one after the other.
llvm::Error serialize(ComputeTarget compute, llvm::StringRef loop);

/// Runs `width` iterations of a loop at once, inside all other loops of its
/// nest. A loop of more is cut into `i.0` and the lanes `i.1`. Lanes beyond the
/// end are masked; with `peelTail`, only in code of their own.
llvm::Error vectorize(ComputeTarget compute, llvm::StringRef loop,
                      int64_t width, bool peelTail = false);

/// Makes one copy of the loop's body for each of `factor` iterations; without a
/// factor, for all. A loop of more is cut into `i.0` and the copies `i.1`;
/// iterations that are left over run in a loop of their own.
llvm::Error unroll(ComputeTarget compute, llvm::StringRef loop,
                   std::optional<int64_t> factor = {});

/// The same, with the copies inside all other loops of the nest.
llvm::Error unrollAndJam(ComputeTarget compute, llvm::StringRef loop,
                         int64_t factor);

/// What is fetched ahead: a read or a write of a computation, and where.
struct Prefetch {
  bool isWrite = false;
  int64_t number = 0; ///< Of a read or a write.
  /// The computation whose access it is; empty for the one that the loop runs.
  std::string owner;
  /// What the access needs so many iterations later, at the first point of the
  /// loops inside; the loop runs over one dimension, or over tiles of it.
  int64_t distance = 0;
  /// Instead: from the first point inside the loop to the owner's point.
  mlir::AffineMap at;
  int64_t bytes = 64; ///< From there on.
};

/// Fetches, in each iteration of a loop, what `prefetch` says.
llvm::Error prefetch(ComputeTarget compute, llvm::StringRef loop,
                     const Prefetch &prefetch);

} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_TRANSFORMS_COMMANDS_H
