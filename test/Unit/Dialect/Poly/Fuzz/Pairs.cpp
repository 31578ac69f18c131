//===- Pairs.cpp - Random reductions to two values ------------------------===//

#include "Kernels.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace espalier::poly::fuzz;

namespace {
/// A combiner of (a, b) with (c, d), and an update of (a, b) by %x and the
/// index %k. What they have in common makes %r and %s of (a, b) and (c, d).
struct Pair {
  const char *neutral;
  bool isCommutative;
  const char *lift; ///< Makes (c, d) of %x and %k, in the update.
  const char *combine;
};
} // namespace

/// Of equal numbers that with the lower index, or the first that is met; a
/// count and a sum; and the last number that is odd.
static const Pair kPairs[] = {{"-9223372036854775808, 9223372036854775807",
                               true,
                               "    %c = arith.addi %x, %zero : i64\n"
                               "    %d = arith.addi %k, %zero : i64\n",
                               "    %more = arith.cmpi sgt, %c, %a : i64\n"
                               "    %equal = arith.cmpi eq, %c, %a : i64\n"
                               "    %before = arith.cmpi slt, %d, %b : i64\n"
                               "    %tie = arith.andi %equal, %before : i1\n"
                               "    %second = arith.ori %more, %tie : i1\n"
                               "    %r = arith.select %second, %c, %a : i64\n"
                               "    %s = arith.select %second, %d, %b : i64\n"},
                              {"-9223372036854775808, 0", false,
                               "    %c = arith.addi %x, %zero : i64\n"
                               "    %d = arith.addi %k, %zero : i64\n",
                               "    %more = arith.cmpi sgt, %c, %a : i64\n"
                               "    %r = arith.select %more, %c, %a : i64\n"
                               "    %s = arith.select %more, %d, %b : i64\n"},
                              {"0, 0", true,
                               "    %c = arith.constant 1 : i64\n"
                               "    %d = arith.addi %x, %k : i64\n",
                               "    %r = arith.addi %a, %c : i64\n"
                               "    %s = arith.addi %b, %d : i64\n"},
                              {"0, 0", false,
                               "    %one = arith.constant 1 : i64\n"
                               "    %c = arith.andi %x, %one : i64\n"
                               "    %d = arith.addi %x, %k : i64\n",
                               "    %none = arith.constant 0 : i64\n"
                               "    %even = arith.cmpi eq, %c, %none : i64\n"
                               "    %r = arith.select %even, %a, %c : i64\n"
                               "    %s = arith.select %even, %b, %d : i64\n"}};

std::string espalier::poly::fuzz::makePairs(Random &random) {
  const Pair &pair = random.choose(llvm::ArrayRef(kPairs));
  unsigned numDims = random.pick(2, 3);
  auto dim = [](int64_t number) { return "d" + std::to_string(number); };
  auto anyDim = [&] { return dim(random.pick(0, numDims - 1)); };
  std::vector<std::string> dims, names, constraints;
  for (unsigned i = 0; i < numDims; ++i) {
    dims.push_back(dim(i));
    names.push_back(std::string("\"") + "ijk"[i] + "\"");
    constraints.push_back(dim(i) + " >= 0");
    constraints.push_back(std::to_string(random.pick(0, 5)) + " - " + dim(i) +
                          " >= 0");
  }
  if (random.chance(25))
    constraints.push_back(dim(0) + " - " + dim(numDims - 1) + " + 1 >= 0");
  auto map = [&](const std::string &results) {
    return "affine_map<(" + llvm::join(dims, ", ") + ") -> (" + results + ")>";
  };
  std::string element = random.chance(20)   ? "0"
                        : random.chance(20) ? anyDim() + " + " + anyDim()
                                            : anyDim();
  std::string at = map(element);
  std::string domain = "[affine_set<(" + llvm::join(dims, ", ") + ") : (" +
                       llvm::join(constraints, ", ") + ")>]";
  std::string start = "dims [" + llvm::join(names, ", ") + "] domain " + domain;
  const char *order = pair.isCommutative ? "commutative " : "";
  std::string text =
      llvm::formatv("poly.kernel @k(%A0: memref<36x36xi64>, %A1: "
                    "memref<36xi64>, %A2: memref<36xi64>, %A3: "
                    "memref<36xi64>) {{\n"
                    "  poly.combiner @pair {0}neutral [{1}] {{\n"
                    "  ^bb0(%a: i64, %b: i64, %c: i64, %d: i64):\n{2}"
                    "    poly.yield %r, %s : i64, i64\n  }\n",
                    order, pair.neutral, pair.combine);
  text += llvm::formatv(
      "  poly.compute @c0 {0}\n"
      "      reads(%A0[{1}], %A1[{2}], %A2[{2}] : memref<36x36xi64>, "
      "memref<36xi64>, memref<36xi64>)\n"
      "      writes(%A1[{2}], %A2[{2}] : memref<36xi64>, memref<36xi64>) "
      "combiner @pair {{\n"
      "  ^bb0(%x: i64, %a: i64, %b: i64):\n"
      "    %zero = arith.constant 0 : i64\n"
      "    %i = poly.index {3}\n"
      "    %k = arith.index_cast %i : index to i64\n{4}{5}"
      "    poly.yield %r, %s : i64, i64\n  }\n",
      start, map(anyDim() + " + " + anyDim() + ", " + anyDim()), at,
      random.pick(0, numDims - 1), pair.lift, pair.combine);
  if (random.chance(40))
    text += llvm::formatv(
        "  poly.compute @c1 {0}\n"
        "      reads(%A1[{1}], %A2[{1}] : memref<36xi64>, memref<36xi64>)\n"
        "      writes(%A3[{2}] : memref<36xi64>) {{\n"
        "  ^bb0(%a: i64, %b: i64):\n"
        "    %r = arith.subi %a, %b : i64\n"
        "    poly.yield %r : i64\n  }\n",
        start, at, map(anyDim()));
  return text + "}\n";
}
