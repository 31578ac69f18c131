//===- Kernels.cpp - Random kernels ---------------------------------------===//

#include "Kernels.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace espalier::poly::fuzz;
using llvm::Twine;

namespace {
/// A memref, as the text has it.
struct Array {
  std::string name;
  std::string type;
  unsigned rank;
};

/// An access, as the text has it: the subscripts, and what it indexes.
struct AccessText {
  Array array;
  std::vector<std::string> subscripts;
  /// Number of values read that the map has as symbols.
  unsigned numData = 0;
};

class KernelMaker {
public:
  explicit KernelMaker(Random &random) : random(random) {}
  std::string make(bool hasData);

private:
  std::string makeComputation(unsigned number);
  /// Computations that make a local array, and one that uses it.
  std::string makePipeline(unsigned &number);
  /// The same, with the positions of elements in their rows as subscripts.
  std::string makeRowPipeline(unsigned &number);
  /// What is stated of rows and of what is below them.
  std::string makeGivens();
  /// The points low <= d <= high, or <= s0 + high - 5, in each dimension.
  std::string makeBox(unsigned numDims, int64_t low, int64_t high);
  /// A computation with these accesses; the value of the last read is the
  /// accumulator of `operation` if there is one.
  std::string printComputation(unsigned number, const std::string &domain,
                               unsigned numDims,
                               llvm::ArrayRef<AccessText> reads,
                               const AccessText &write,
                               const std::string &operation);
  std::string makeSet(unsigned numDims);
  std::string makeDomain(unsigned numDims);
  std::string makeSubscript(unsigned numDims);
  std::string makeRowSubscript(const std::string &row) {
    return random.chance(50) ? row + " + 1" : row + " floordiv 2";
  }
  AccessText makeAccess(const Array &array, unsigned numDims);
  /// An access to the same array that is near.
  AccessText perturb(const AccessText &access);
  std::string makeBody(unsigned numReads, unsigned numWrites, unsigned numDims,
                       bool isReduction, const std::string &operation);
  std::string print(const AccessText &access, unsigned numDims);
  std::string dim(unsigned number) { return "d" + std::to_string(number); }
  std::string number(int64_t low, int64_t high) {
    return std::to_string(random.pick(low, high));
  }
  /// `(d0, d1)[s0, ...]`.
  std::string printSpace(unsigned numDims, unsigned numSymbols);

  Random &random;
  unsigned numParams = 0;
  std::vector<Array> arrays;
  Array indices;
  bool hasIndices = false;
  /// Starts of rows, between which a loop runs.
  Array starts;
  bool hasStarts = false;
  /// A number for each element of a row, less than the row's start.
  Array below;
  bool hasBelow = false;
  unsigned lastNumDims = 0;
};
} // namespace

std::string KernelMaker::printSpace(unsigned numDims, unsigned numSymbols) {
  auto list = [](char letter, unsigned count) {
    std::vector<std::string> names;
    for (unsigned i = 0; i < count; ++i)
      names.push_back(letter + std::to_string(i));
    return llvm::join(names, ", ");
  };
  std::string text = "(" + list('d', numDims) + ")";
  if (numSymbols > 0)
    text += "[" + list('s', numSymbols) + "]";
  return text;
}

std::string KernelMaker::makeSet(unsigned numDims) {
  std::vector<std::string> constraints;
  int64_t budget = 100;
  for (unsigned i = 0; i < numDims; ++i) {
    int64_t extent =
        random.pick(1, std::min<int64_t>(7, std::max<int64_t>(budget, 1)));
    budget /= extent;
    int64_t low = random.chance(30) ? random.pick(0, 2) : 0;
    constraints.push_back(dim(i) + " - " + std::to_string(low) + " >= 0");
    if (numParams > 0 && random.chance(50)) {
      constraints.push_back("s" + number(0, numParams - 1) + " - 1 - " +
                            dim(i) + " >= 0");
    } else {
      constraints.push_back(std::to_string(low + extent - 1) + " - " + dim(i) +
                            " >= 0");
    }
    if (i > 0 && random.chance(25)) {
      std::string outer = dim(random.pick(0, i - 1));
      constraints.push_back(
          random.chance(50)
              ? dim(i) + " - " + outer + " + " + number(0, 1) + " >= 0"
              : outer + " - " + dim(i) + " + " + number(0, 2) + " >= 0");
    }
  }
  if (random.chance(15)) {
    std::string sum = dim(0);
    for (unsigned i = 1; i < numDims; ++i)
      if (random.chance(50))
        sum += " + " + dim(i);
    int64_t modulus = random.pick(2, 3);
    constraints.push_back("(" + sum + ") mod " + std::to_string(modulus) +
                          " - " + number(0, modulus - 1) + " == 0");
  }
  if (random.chance(5))
    constraints.push_back("2 * (" + dim(0) + " floordiv 2) - " +
                          dim(numDims - 1) + " + " + number(0, 3) + " >= 0");
  return "affine_set<" + printSpace(numDims, numParams) + " : (" +
         llvm::join(constraints, ", ") + ")>";
}

std::string KernelMaker::makeDomain(unsigned numDims) {
  std::string text = makeSet(numDims);
  if (random.chance(10))
    text += ", " + makeSet(numDims);
  return "[" + text + "]";
}

std::string KernelMaker::makeSubscript(unsigned numDims) {
  std::string first = dim(random.pick(0, numDims - 1));
  std::string second = dim(random.pick(0, numDims - 1));
  int64_t form = random.pick(1, 100);
  if (form <= 65)
    return first + " + " + number(2, 4);
  if (form <= 73)
    return first + " + " + second + " + " + number(0, 2);
  if (form <= 79)
    return "2 * " + first + " + " + number(0, 2);
  if (form <= 85)
    return "12 - " + first;
  if (form <= 89)
    return first + " floordiv 2";
  if (form <= 93)
    return first + " mod " + number(2, 3);
  if (form <= 96 && numParams > 0)
    return first + " + s0";
  return number(0, 3);
}

AccessText KernelMaker::makeAccess(const Array &array, unsigned numDims) {
  AccessText access{array, {}};
  for (unsigned i = 0; i < array.rank; ++i)
    access.subscripts.push_back(makeSubscript(numDims));
  return access;
}

AccessText KernelMaker::perturb(const AccessText &access) {
  AccessText result = access;
  for (std::string &subscript : result.subscripts)
    if (random.chance(50))
      subscript += (random.chance(50) ? " + " : " - ") + number(0, 2);
  if (access.array.rank > 1 && random.chance(10))
    std::swap(result.subscripts[0], result.subscripts[1]);
  return result;
}

std::string KernelMaker::print(const AccessText &access, unsigned numDims) {
  return access.array.name + "[affine_map<" +
         printSpace(numDims, numParams + access.numData) + " -> (" +
         llvm::join(access.subscripts, ", ") + ")>]";
}

/// `memref<...>` to its element type.
static std::string getElement(const std::string &type) {
  return llvm::StringRef(type).contains("i32") ? "i32" : "i64";
}

std::string KernelMaker::makeBody(unsigned numReads, unsigned numWrites,
                                  unsigned numDims, bool isReduction,
                                  const std::string &operation) {
  // The reads are %r0, ...; a reduction's accumulator is the last one.
  std::string text;
  unsigned next = 0;
  auto add = [&](const Twine &line) {
    std::string name = "%v" + std::to_string(next++);
    text += ("    " + name + " = " + line + "\n").str();
    return name;
  };
  const std::string operations[] = {"arith.addi", "arith.subi", "arith.muli",
                                    "arith.maxsi", "arith.minsi"};
  const std::string divisions[] = {"arith.divsi",      "arith.remsi",
                                   "arith.floordivsi", "arith.ceildivsi",
                                   "arith.divui",      "arith.remui"};
  const std::string extremes[] = {"0", "-1", "1", "-9223372036854775808"};
  std::string value;
  unsigned numFree = isReduction ? numReads - 1 : numReads;
  if (numFree == 0 || random.chance(25)) {
    std::string index = add("poly.index " + number(0, numDims - 1));
    value = add("arith.index_cast " + index + " : index to i64");
  } else {
    value = "%r0";
  }
  for (unsigned i = 0; i < numFree; ++i) {
    std::string factor = add("arith.constant " + number(2, 5) + " : i64");
    std::string scaled = add("arith.muli " + value + ", " + factor + " : i64");
    value = add(random.choose(llvm::ArrayRef(operations)) + " " + scaled +
                ", %r" + std::to_string(i) + " : i64");
  }
  // Where there may be no quotient.
  for (; random.chance(15);) {
    std::string other =
        numFree == 0 || random.chance(50)
            ? add("arith.constant " + random.choose(llvm::ArrayRef(extremes)) +
                  " : i64")
            : "%r" + number(0, numFree - 1);
    bool isDivisor = random.chance(70);
    value = add(random.choose(llvm::ArrayRef(divisions)) + " " +
                (isDivisor ? value : other) + ", " +
                (isDivisor ? other : value) + " : i64");
  }
  if (isReduction)
    value = add(operation + " %r" + std::to_string(numReads - 1) + ", " +
                value + " : i64");
  std::vector<std::string> values{value}, types{"i64"};
  for (unsigned i = 1; i < numWrites; ++i) {
    values.push_back(random.chance(50)
                         ? add("arith.addi " + value + ", " + value + " : i64")
                         : value);
    types.push_back("i64");
  }
  return text + "    poly.yield " + llvm::join(values, ", ") + " : " +
         llvm::join(types, ", ") + "\n";
}

std::string KernelMaker::makeComputation(unsigned number) {
  unsigned numDims = random.pick(1, 3);
  const Array &target = random.choose(llvm::ArrayRef(arrays));
  AccessText write = makeAccess(target, numDims);
  std::vector<AccessText> reads, writes{write};
  bool isReduction = random.chance(20);
  for (int64_t i = random.pick(isReduction ? 0 : 1, 3); i > 0; --i) {
    AccessText read =
        random.chance(50)
            ? perturb(write)
            : makeAccess(random.choose(llvm::ArrayRef(arrays)), numDims);
    reads.push_back(read);
  }
  unsigned numIndices = 0;
  std::string where;
  unsigned rowDim = 0;
  if (hasStarts && numDims > 1 && random.chance(70)) {
    // The rows are of a dimension outside of the loop between them.
    rowDim = random.pick(1, numDims - 1);
    std::string row = dim(random.pick(0, rowDim - 1));
    std::string begin = random.chance(80) ? row : makeRowSubscript(row);
    reads.insert(reads.begin(), {AccessText{starts, {begin}},
                                 AccessText{starts, {begin + " + 1"}}});
    numIndices = 2;
  }
  if (hasIndices && random.chance(50)) {
    // An index is read, then it is part of a subscript of a read or write.
    bool isBelow = hasBelow && rowDim > 0 && random.chance(70);
    AccessText index = isBelow ? AccessText{below, {dim(rowDim)}}
                               : AccessText{indices, {makeSubscript(numDims)}};
    reads.insert(reads.begin(), index);
    ++numIndices;
    AccessText &user = reads.size() > numIndices && random.chance(60)
                           ? reads[numIndices]
                           : writes.front();
    user.numData = &user == &writes.front() ? reads.size() : numIndices;
    user.subscripts[random.pick(0, user.subscripts.size() - 1)] =
        "s" + std::to_string(numParams) + " + " +
        (isBelow ? this->number(3, 5) : this->number(0, 2));
  }
  if (rowDim > 0) {
    auto value = [&](unsigned read) {
      return "s" + std::to_string(numParams + read);
    };
    where = " where affine_set<" + printSpace(numDims, numParams + numIndices) +
            " : (";
    if (random.chance(90))
      where += dim(rowDim) + " - " + value(numIndices - 2) + " >= 0, ";
    where += value(numIndices - 1) + " - 1 - " + dim(rowDim) + " >= 0)>";
  }
  if (rowDim > 0 && random.chance(30)) {
    // The position in the row is part of a subscript.
    AccessText &user = reads.size() > numIndices && random.chance(50)
                           ? reads[numIndices]
                           : writes.front();
    user.numData = &user == &writes.front() ? reads.size() : numIndices;
    user.subscripts[random.pick(0, user.subscripts.size() - 1)] =
        dim(rowDim) + " - s" + std::to_string(numParams + numIndices - 2) +
        " + " + this->number(0, 2);
  }
  if (isReduction) {
    // The element that is written, whose index may be read.
    AccessText &element = writes.front();
    reads.push_back(element);
    if (element.numData > 0)
      element.numData = reads.size();
  } else if (random.chance(8)) {
    writes.push_back(
        makeAccess(random.choose(llvm::ArrayRef(arrays)), numDims));
  }

  auto printAll = [&](llvm::ArrayRef<AccessText> accesses) {
    std::vector<std::string> texts, types;
    for (const AccessText &access : accesses) {
      texts.push_back(print(access, numDims));
      types.push_back(access.array.type);
    }
    return "(" + llvm::join(texts, ", ") +
           (texts.empty() ? ")" : " : " + llvm::join(types, ", ") + ")");
  };
  const std::pair<const char *, const char *> kinds[] = {
      {"add", "arith.addi"}, {"max", "arith.maxsi"}, {"mul", "arith.muli"}};
  auto kind = random.choose(llvm::ArrayRef(kinds));
  std::vector<std::string> names;
  for (unsigned i = 0; i < numDims; ++i)
    names.push_back(std::string("\"") + "ijk"[i] + "\"");
  std::string text = "  poly.compute @c" + std::to_string(number) + " dims [" +
                     llvm::join(names, ", ") + "] domain " +
                     makeDomain(numDims) + where + "\n      reads" +
                     printAll(reads) + "\n      writes" + printAll(writes);
  if (isReduction && random.chance(75))
    text += std::string(" reduction ") + kind.first;
  if (number > 0 && random.chance(25))
    text += " interleaved " +
            this->number(1, std::min<int64_t>(numDims, lastNumDims));
  lastNumDims = numDims;
  text += " {\n  ^bb0(";
  std::vector<std::string> arguments;
  for (auto [position, read] : llvm::enumerate(reads))
    arguments.push_back(
        (position < numIndices
             ? "%x" + std::to_string(position) + ": "
             : "%r" + std::to_string(position - numIndices) + ": ") +
        getElement(read.array.type));
  text += llvm::join(arguments, ", ") + "):\n";
  return text +
         makeBody(reads.size() - numIndices, writes.size(), numDims,
                  isReduction, kind.second) +
         "  }\n";
}

std::string KernelMaker::makeBox(unsigned numDims, int64_t low, int64_t high) {
  std::vector<std::string> constraints;
  for (unsigned i = 0; i < numDims; ++i) {
    constraints.push_back(dim(i) + " - " + std::to_string(low) + " >= 0");
    constraints.push_back((numParams > 0 && i == 0
                               ? "s0 + " + std::to_string(high - 5)
                               : std::to_string(high)) +
                          " - " + dim(i) + " >= 0");
  }
  return "[affine_set<" + printSpace(numDims, numParams) + " : (" +
         llvm::join(constraints, ", ") + ")>]";
}

std::string KernelMaker::printComputation(unsigned number,
                                          const std::string &domain,
                                          unsigned numDims,
                                          llvm::ArrayRef<AccessText> reads,
                                          const AccessText &write,
                                          const std::string &operation) {
  std::vector<std::string> names, texts, types, arguments;
  for (unsigned i = 0; i < numDims; ++i)
    names.push_back(std::string("\"") + "ijk"[i] + "\"");
  for (auto [position, read] : llvm::enumerate(reads)) {
    texts.push_back(print(read, numDims));
    types.push_back(read.array.type);
    arguments.push_back("%r" + std::to_string(position) + ": i64");
  }
  lastNumDims = numDims;
  bool isReduction = !operation.empty();
  return "  poly.compute @c" + std::to_string(number) + " dims [" +
         llvm::join(names, ", ") + "] domain " + domain + "\n      reads(" +
         llvm::join(texts, ", ") + " : " + llvm::join(types, ", ") +
         ")\n      writes(" + print(write, numDims) + " : " + write.array.type +
         ")" + (isReduction && random.chance(70) ? " reduction add" : "") +
         " {\n  ^bb0(" + llvm::join(arguments, ", ") + "):\n" +
         makeBody(reads.size(), 1, numDims, isReduction, operation) + "  }\n";
}

std::string KernelMaker::makePipeline(unsigned &number) {
  unsigned rank = random.pick(1, 2);
  Array local{"%L", rank == 1 ? "memref<40xi64>" : "memref<40x40xi64>", rank};
  std::string text = "  %L = poly.array : " + local.type + "\n";
  auto pickArray = [&] { return random.choose(llvm::ArrayRef(arrays)); };
  AccessText write{local, {}};
  bool isMirrored = numParams == 0 && random.chance(15);
  for (unsigned i = 0; i < rank; ++i)
    write.subscripts.push_back(isMirrored ? "8 - " + dim(i) : dim(i) + " + 1");
  if (random.chance(15))
    std::reverse(write.subscripts.begin(), write.subscripts.end());
  std::string domain = makeBox(rank, 0, 7);
  text += printComputation(number++, domain, rank,
                           {makeAccess(pickArray(), rank)}, write, "");
  if (random.chance(40)) {
    // Changes the array in place, as often as a third dimension says.
    unsigned numDims = rank + (random.chance(60) ? 1 : 0);
    std::string own = makeBox(rank, 0, 7);
    if (numDims > rank)
      own = "[affine_set<" + printSpace(numDims, numParams) + " : (" +
            dim(rank) + " >= 0, 2 - " + dim(rank) + " >= 0, " +
            own.substr(own.find(": (") + 3);
    text += printComputation(number++, own, numDims,
                             {makeAccess(pickArray(), numDims), write}, write,
                             "arith.addi");
  }
  if (random.chance(30))
    text += makeComputation(number++);
  for (int64_t i = random.chance(80) ? 1 : 2; i > 0; --i) {
    unsigned numDims = rank + (random.chance(30) ? 1 : 0);
    std::vector<AccessText> reads;
    for (int64_t r = random.pick(1, 3); r > 0; --r) {
      AccessText read{local, {}};
      for (unsigned d = 0; d < rank; ++d)
        read.subscripts.push_back(dim(d) + " + " + this->number(0, 3));
      if (numDims > rank && random.chance(50))
        read.subscripts.back() += " + " + dim(rank) + " - 1";
      reads.push_back(read);
    }
    std::string own = makeBox(numDims, 1, random.pick(3, 5));
    text += printComputation(number++, own, numDims, reads,
                             makeAccess(pickArray(), numDims), "");
  }
  return text;
}

std::string KernelMaker::makeRowPipeline(unsigned &number) {
  Array local{"%R", "memref<64xi64>", 1};
  std::string begin = "s" + std::to_string(numParams);
  std::string end = "s" + std::to_string(numParams + 1);
  AccessText element{local, {"d1 - " + begin}, 2};
  std::string row = random.chance(85) ? "d0" : makeRowSubscript("d0");
  std::string domain = makeBox(2, 0, 7);
  auto printOne = [&](llvm::ArrayRef<AccessText> own, AccessText write,
                      const std::string &kind) {
    std::vector<AccessText> reads{{starts, {row}}, {starts, {row + " + 1"}}};
    llvm::append_range(reads, own);
    if (write.numData > 0)
      write.numData = reads.size();
    std::vector<std::string> texts, types, arguments{"%x0: i32", "%x1: i32"};
    for (auto [position, read] : llvm::enumerate(reads)) {
      texts.push_back(print(read, 2));
      types.push_back(read.array.type);
      if (position > 1)
        arguments.push_back("%r" + std::to_string(position - 2) + ": i64");
    }
    return "  poly.compute @c" + std::to_string(number++) +
           " dims [\"i\", \"j\"] domain " + domain + " where affine_set<" +
           printSpace(2, numParams + 2) + " : (d1 - " + begin + " >= 0, " +
           end + " - 1 - d1 >= 0)>\n      reads(" + llvm::join(texts, ", ") +
           " : " + llvm::join(types, ", ") + ")\n      writes(" +
           print(write, 2) + " : " + write.array.type + ")" + kind +
           " {\n  ^bb0(" + llvm::join(arguments, ", ") + "):\n" +
           makeBody(own.size(), 1, 2, false, "") + "  }\n";
  };
  auto pickAccess = [&] {
    return makeAccess(random.choose(llvm::ArrayRef(arrays)), 2);
  };
  std::string text = "  %R = poly.array : " + local.type + "\n";
  text += printOne({pickAccess()}, element, "");
  for (int64_t i = random.pick(1, 2); i > 0; --i) {
    std::vector<AccessText> reads{element};
    if (random.chance(50))
      reads.push_back(pickAccess());
    text += printOne(reads, pickAccess(),
                     random.chance(80) ? " interleaved 1" : "");
  }
  lastNumDims = 2;
  return text;
}

std::string KernelMaker::makeGivens() {
  auto space = [&](unsigned numDims, unsigned numValues) {
    return printSpace(numDims, numParams + numValues);
  };
  auto value = [&](unsigned read) {
    return "s" + std::to_string(numParams + read);
  };
  auto reads = [&](unsigned numDims) {
    return "reads(%P[affine_map<" + space(numDims, 0) +
           " -> (d0)>], %P[affine_map<" + space(numDims, 0) + " -> (d0 + 1)>]";
  };
  std::string text;
  if (random.chance(80))
    text += "  poly.given @below domain [affine_set<" + space(2, 0) +
            " : (d0 >= 0, 30 - d0 >= 0, d1 >= 0, 60 - d1 >= 0)>]\n"
            "      where affine_set<" +
            space(2, 2) + " : (d1 - " + value(0) + " >= 0, " + value(1) +
            " - 1 - d1 >= 0)>\n      " + reads(2) + ", %C[affine_map<" +
            space(2, 0) +
            " -> (d1)>] : memref<?xi32>, memref<?xi32>, memref<?xi32>)\n"
            "      holds affine_set<" +
            space(2, 3) + " : (" + value(0) + " - 1 - " + value(2) +
            " >= 0)>\n";
  if (random.chance(50))
    text += "  poly.given @short domain [affine_set<" + space(1, 0) +
            " : (d0 >= 0, 30 - d0 >= 0)>] " + reads(1) +
            " : memref<?xi32>, memref<?xi32>) holds affine_set<" + space(1, 2) +
            " : (" + value(0) + " + 3 - " + value(1) + " >= 0)>\n";
  return text;
}

std::string KernelMaker::make(bool hasData) {
  numParams = random.chance(25) ? random.pick(1, 2) : 0;
  std::vector<std::string> arguments;
  std::string body;
  auto makeType = [](unsigned rank, const char *extent, const char *element) {
    std::string type = "memref<";
    for (unsigned i = 0; i < rank; ++i)
      type += std::string(extent) + "x";
    return type + element + ">";
  };
  for (int64_t i = 0, e = random.pick(1, 3); i < e; ++i) {
    unsigned rank = random.chance(15) ? 3 : random.pick(1, 2);
    arrays.push_back({"%A" + std::to_string(i),
                      makeType(rank, random.chance(50) ? "?" : "36", "i64"),
                      rank});
    arguments.push_back(arrays.back().name + ": " + arrays.back().type);
  }
  hasStarts = random.chance(hasData ? 70 : 25);
  hasBelow = hasStarts && random.chance(50);
  hasIndices = random.chance(15) || hasBelow || (hasData && !hasStarts);
  std::string seed = "fuzz.seed = " + this->number(0, 1000) + " : i64";
  if (hasIndices) {
    indices = {"%I", "memref<?xi32>", 1};
    arguments.push_back("%I: memref<?xi32> {" + seed);
    if (random.chance(50))
      arguments.back() += ", poly.injective, poly.bounded_by = affine_map<" +
                          printSpace(0, numParams) + " -> (19)>";
    arguments.back() += "}";
  }
  if (hasStarts) {
    starts = {"%P", "memref<?xi32>", 1};
    arguments.push_back("%P: memref<?xi32> {" + seed);
    int64_t kind = hasBelow ? 50 : random.pick(1, 100);
    if (kind <= 85)
      arguments.back() += ", poly.monotonic";
    if (kind > 20 && kind <= 85)
      arguments.back() += ", poly.bounded_by = affine_map<" +
                          printSpace(0, numParams) + " -> (40)>";
    arguments.back() += "}";
  }
  if (hasBelow) {
    below = {"%C", "memref<?xi32>", 1};
    arguments.push_back("%C: memref<?xi32> {" + seed + ", fuzz.below}");
    body += makeGivens();
  }
  for (unsigned i = 0; i < numParams; ++i)
    arguments.push_back("%N" + std::to_string(i) + ": index");
  unsigned number = 0;
  if (hasData && hasStarts && random.chance(40))
    body += makeRowPipeline(number);
  else if (random.chance(25))
    body += makePipeline(number);
  else
    for (int64_t i = random.pick(1, 3); i > 0; --i)
      body += makeComputation(number++);
  return "poly.kernel @k(" + llvm::join(arguments, ", ") + ") {\n" + body +
         "}\n";
}

std::string espalier::poly::fuzz::makeKernel(Random &random, bool hasData) {
  if (random.chance(hasData ? 15 : 5))
    return makePairs(random);
  return KernelMaker(random).make(hasData);
}
