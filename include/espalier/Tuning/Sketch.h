//===- Sketch.h - Scripts with open choices ---------------------*- C++ -*-===//
//
// The space of schedules of a kernel. A sketch is a transform script whose
// numbers are knobs; rules derive sketches from the script of the default
// schedule (the sketches and the annotations of Ansor, section 4).
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_TUNING_SKETCH_H
#define ESPALIER_TUNING_SKETCH_H

#include "espalier/Dialect/Poly/IR/Poly.h"
#include "espalier/Dialect/Poly/TransformOps/Choices.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"
#include <random>
#include <string>
#include <vector>

namespace espalier::tuning {

/// What is selected of each choice of a sketch: the number of an option, in the
/// order of the choices.
using Selection = std::vector<unsigned>;

/// What numbers that are selected together have to keep, those of one plan; a
/// sketch repairs what does not.
struct SelectionLimits {
  /// The product of the choices whose names begin so, if that is not empty, is
  /// at most `mostPoints`: a tile whose results do not fit the registers is no
  /// good.
  std::string tilePrefix;
  int64_t mostPoints = 0;
  /// The choice `block`, if there is one, is a multiple of the choice `tile`.
  std::string block, tile;
};

/// A script for one kernel with choices that all have a list of options.
class Sketch {
public:
  /// Takes a script whose choices have lists of options. What it selects is
  /// `getDefault`, with the blocks that its tiles need; the first option of a
  /// choice that nothing is selected of.
  static mlir::FailureOr<Sketch>
  create(llvm::StringRef rule, mlir::OwningOpRef<mlir::ModuleOp> script,
         llvm::ArrayRef<SelectionLimits> limits);

  /// The rule that derived it.
  llvm::StringRef getRule() const { return rule; }
  llvm::ArrayRef<poly::Choice> getChoices() const { return choices; }
  unsigned getNumOptions(unsigned choice) const {
    return mlir::cast<mlir::ArrayAttr>(choices[choice].options).size();
  }
  const Selection &getDefault() const { return selected; }

  /// The script with everything selected.
  mlir::OwningOpRef<mlir::ModuleOp> select(const Selection &selection) const;

  /// Selects the options of the choices of the same names in `script`, a sketch
  /// with something selected; of others, and where there is no such option,
  /// what `getDefault` does.
  Selection translate(mlir::ModuleOp script) const;

  using Random = std::mt19937_64;
  /// Selects anything within the limits.
  Selection selectAny(Random &random) const;
  /// Selects another option of one or two choices.
  Selection mutate(Selection selection, Random &random) const;
  /// Takes each choice from one of two selections.
  Selection cross(const Selection &first, const Selection &second,
                  Random &random) const;

private:
  /// The choices of the limits of one plan.
  struct Limits {
    llvm::SmallVector<unsigned> tiles;
    int64_t mostPoints = 0;
    std::optional<std::pair<unsigned, unsigned>> blockAndTile;
  };

  int64_t getNumber(unsigned choice, unsigned option) const;
  Limits findLimits(const SelectionLimits &names) const;
  int64_t countPoints(const Limits &plan, const Selection &selection) const;
  /// Selects smaller tiles until they are not too large, and the nearest blocks
  /// that have whole tiles.
  Selection repair(Selection selection, Random &random) const;
  Selection repairBlocks(Selection selection) const;

  std::string rule;
  mlir::OwningOpRef<mlir::ModuleOp> script;
  llvm::SmallVector<poly::Choice> choices;
  Selection selected;
  llvm::SmallVector<Limits> limits;
};

/// Derives the sketches of the only kernel of `module`, which has no schedule
/// yet. The first one's default is the default schedule; the defaults of the
/// others fit the kernel, which says nothing of dependences. None if the
/// default schedule is the order of the program.
std::vector<Sketch> deriveSketches(mlir::ModuleOp module);

/// Derives sketches of the only kernel of `module` that tile its loops over
/// time and a grid, with rule `skew`, and run such tiles in parallel, with rule
/// `wavefront`. What they select by default is legal. None if the kernel is no
/// such loop nest.
std::vector<Sketch> deriveTimeTiles(mlir::ModuleOp module);

/// Derives a sketch of the only kernel of `module` in which `threads` threads
/// add up parts of sums that have many terms and few elements, with rule
/// `rfactor`. What it selects by default is legal. None for one thread, or if
/// the kernel has no such sum.
std::vector<Sketch> derivePartialSums(mlir::ModuleOp module, unsigned threads);

/// Makes a sketch of the text that a rule of the user's gives for the kernel of
/// `module`. Fails if that is no script for one kernel, if it changes what is
/// not a schedule, or if a choice has no list of options.
llvm::Expected<Sketch> parseSketch(llvm::StringRef rule, llvm::StringRef text,
                                   mlir::ModuleOp module);

} // namespace espalier::tuning

#endif // ESPALIER_TUNING_SKETCH_H
