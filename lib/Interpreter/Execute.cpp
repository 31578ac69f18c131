//===- Execute.cpp - Runs the flat form of a step -------------------------===//

#include "Program.h"
#include "espalier/Definition/EvaluateInline.h"
#include <algorithm>

using namespace espalier::interpreter;
using namespace espalier::definition;
using inlined::Wrapping;

/// Calls `body` with the function as a compile-time constant, so that each
/// function gets loops of its own.
template <typename Body>
static void dispatchFn(ScalarFn fn, Body &&body) {
  switch (fn) {
#define SCALAR_FN(id, name, arity, result)                                     \
  case ScalarFn::id:                                                           \
    return body(std::integral_constant<ScalarFn, ScalarFn::id>());
#include "espalier/Definition/ScalarFunctions.def"
  }
}

/// The same for the functions that combine the values of a reduction.
template <typename Body>
static void dispatchCombiner(ScalarFn fn, Body &&body) {
  switch (fn) {
  case ScalarFn::Add:
    return body(std::integral_constant<ScalarFn, ScalarFn::Add>());
  case ScalarFn::Mul:
    return body(std::integral_constant<ScalarFn, ScalarFn::Mul>());
  case ScalarFn::Max:
    return body(std::integral_constant<ScalarFn, ScalarFn::Max>());
  case ScalarFn::Min:
    return body(std::integral_constant<ScalarFn, ScalarFn::Min>());
  default:
    llvm_unreachable("reductions have four kinds");
  }
}

namespace {
/// An operand: one word per lane, or the same for all.
struct Operand {
  const Word *words;
  bool isVarying;
};
} // namespace

/// dst[l] = fn(a[l], b[l]); `dst` may be `a`.
template <typename Fn>
static void mapLanes(Word *dst, Operand a, Operand b, unsigned count, Fn fn) {
  if (a.isVarying && b.isVarying) {
    for (unsigned lane = 0; lane < count; ++lane)
      dst[lane] = fn(a.words[lane], b.words[lane]);
  } else if (a.isVarying) {
    Word rhs = *b.words;
    for (unsigned lane = 0; lane < count; ++lane)
      dst[lane] = fn(a.words[lane], rhs);
  } else {
    Word lhs = *a.words;
    unsigned step = b.isVarying ? 1 : 0;
    for (unsigned lane = 0; lane < count; ++lane)
      dst[lane] = fn(lhs, b.words[size_t(lane) * step]);
  }
}

static Word makeReal(double value) {
  Word word;
  word.real = value;
  return word;
}

static Word makeInteger(int64_t value) {
  Word word;
  word.integer = value;
  return word;
}

template <ScalarFn fn>
static void runFloat(Word *dst, Operand a, Operand b, unsigned count) {
  mapLanes(dst, a, b, count, [](Word lhs, Word rhs) {
    return makeReal(inlined::evaluateFloat(fn, lhs.real, rhs.real));
  });
}

template <ScalarFn fn>
static void runInteger(Word *dst, Operand a, Operand b, unsigned count,
                       IntegerFormat format) {
  if (format.isSigned)
    mapLanes(dst, a, b, count, [](Word lhs, Word rhs) {
      return makeInteger(
          inlined::evaluateInteger(fn, true, lhs.integer, rhs.integer));
    });
  else
    mapLanes(dst, a, b, count, [](Word lhs, Word rhs) {
      return makeInteger(
          inlined::evaluateInteger(fn, false, lhs.integer, rhs.integer));
    });
  if (format.width < 64)
    for (unsigned lane = 0; lane < count; ++lane)
      dst[lane].integer = format.wrap(dst[lane].integer);
}

static void runPredicate(ScalarFn fn, Word *dst, Operand a, Operand b,
                         unsigned count) {
  mapLanes(dst, a, b, count, [fn](Word lhs, Word rhs) {
    return makeInteger(inlined::evaluateFloatPredicate(fn, lhs.real, rhs.real));
  });
}

template <typename Element>
static void runLoad(Word *dst, Operand address, int64_t base, bool isContiguous,
                    unsigned count, const Buffer &buffer) {
  auto *data = reinterpret_cast<const typename Element::Stored *>(buffer.data);
  auto put = [](Word &word, typename Element::Stored stored) {
    if constexpr (std::is_same_v<typename Element::Computed, double>)
      word.real = Element::decode(stored);
    else
      word.integer = Element::decode(stored);
  };
  int64_t first = Wrapping::add(address.words->integer, base);
  if (isContiguous && first >= 0 && first <= buffer.numElements - count) {
    for (unsigned lane = 0; lane < count; ++lane)
      put(dst[lane], data[first + lane]);
    return;
  }
  unsigned step = address.isVarying ? 1 : 0;
  for (unsigned lane = 0; lane < count; ++lane) {
    int64_t position =
        Wrapping::add(address.words[size_t(lane) * step].integer, base);
    bool isInside =
        static_cast<uint64_t>(position) < uint64_t(buffer.numElements);
    put(dst[lane], isInside ? data[position] : typename Element::Stored());
  }
}
Executor::Executor(const Program &program)
    : program(program), uniforms(program.uniforms),
      varying(size_t(program.numVarying) * kLanes) {}

void Executor::runInstruction(const Instruction &inst) {
  Word *dst = get(inst.dst);
  Operand a{get(inst.a), inst.a.isVarying};
  Operand b{get(inst.b), inst.b.isVarying};
  unsigned count = inst.dst.isVarying ? numLanes : 1;
  switch (inst.opcode) {
  case Opcode::FloatFn:
    return dispatchFn(inst.fn, [&](auto fn) {
      runFloat<decltype(fn)::value>(dst, a, b, count);
    });
  case Opcode::FloatPredicate:
    return runPredicate(inst.fn, dst, a, b, count);
  case Opcode::IntegerFn:
    return dispatchFn(inst.fn, [&](auto fn) {
      runInteger<decltype(fn)::value>(dst, a, b, count, inst.format);
    });
  case Opcode::AddScaled:
    return mapLanes(dst, a, b, count, [&](Word lhs, Word rhs) {
      return makeInteger(Wrapping::add(
          lhs.integer, Wrapping::mul(rhs.integer, inst.immediate)));
    });
  case Opcode::Select: {
    Operand c{get(inst.c), inst.c.isVarying};
    for (unsigned lane = 0; lane < count; ++lane) {
      bool condition = a.words[a.isVarying ? lane : 0].integer != 0;
      dst[lane] = condition ? b.words[b.isVarying ? lane : 0]
                            : c.words[c.isVarying ? lane : 0];
    }
    return;
  }
  case Opcode::IntegerToFloat:
    return mapLanes(dst, a, a, count, [&](Word value, Word) {
      return makeReal(convertToFloat(value.integer, inst.format));
    });
  case Opcode::FloatToInteger:
    return mapLanes(dst, a, a, count, [&](Word value, Word) {
      return makeInteger(convertToInteger(value.real, inst.format));
    });
  case Opcode::ConvertInteger:
    return mapLanes(dst, a, a, count, [&](Word value, Word) {
      return makeInteger(inst.format.width == 1
                             ? value.integer != 0
                             : inst.format.wrap(value.integer));
    });
  case Opcode::RoundFloat:
    return dispatch(inst.kind, [&](auto element) {
      if constexpr (std::is_same_v<typename decltype(element)::Computed,
                                   double>)
        mapLanes(dst, a, a, count, [&](Word value, Word) {
          return makeReal(element.decode(element.encode(value.real)));
        });
    });
  case Opcode::Load: {
    const Buffer &buffer = tensors[inst.tensor];
    return dispatch(buffer.kind, [&](auto element) {
      int64_t base = Wrapping::add(b.words->integer, inst.immediate);
      runLoad<decltype(element)>(dst, a, base, inst.isContiguous, count,
                                 buffer);
    });
  }
  case Opcode::Copy:
    return mapLanes(dst, a, a, count, [](Word value, Word) { return value; });
  case Opcode::Accumulate:
    return runAccumulate(inst);
  case Opcode::SkipUnless:
  case Opcode::Loop:
    break;
  }
  llvm_unreachable("control flow is handled by runRegion");
}

void Executor::runAccumulate(const Instruction &inst) {
  Word *dst = get(inst.dst);
  Operand sum{dst, inst.dst.isVarying};
  Operand value{get(inst.a), inst.a.isVarying};
  unsigned count = inst.dst.isVarying ? numLanes : 1;
  Word saved[kLanes];
  if (inst.isGuarded)
    std::copy_n(dst, count, saved);
  dispatchCombiner(inst.fn, [&](auto fn) {
    if (inst.isFloat)
      runFloat<decltype(fn)::value>(dst, sum, value, count);
    else
      runInteger<decltype(fn)::value>(dst, sum, value, count, inst.format);
  });
  if (!inst.isGuarded)
    return;
  const Word *guard = get(inst.b);
  unsigned step = inst.b.isVarying ? 1 : 0;
  for (unsigned lane = 0; lane < count; ++lane)
    if (guard[size_t(lane) * step].integer == 0)
      dst[lane] = saved[lane];
}

void Executor::runRegion(unsigned region) {
  for (const Instruction &inst : program.regions[region]) {
    if (inst.opcode == Opcode::SkipUnless) {
      if (get(inst.a)->integer == 0)
        return;
    } else if (inst.opcode == Opcode::Loop) {
      for (int64_t index = 0; index < inst.immediate; ++index) {
        get(inst.a)->integer = index;
        runRegion(inst.region);
      }
    } else {
      runInstruction(inst);
    }
  }
}

//===----------------------------------------------------------------------===//
// Blocks of elements
//===----------------------------------------------------------------------===//

void Executor::fillIndices(int64_t first, unsigned count, int64_t time) {
  if (program.linear)
    for (unsigned lane = 0; lane < count; ++lane)
      get(*program.linear)[lane].integer = first + lane;
  if (program.recurrence && program.indices[*program.recurrence])
    get(*program.indices[*program.recurrence])->integer = time;
  // The index of a dimension is (element / stride) % extent.
  int64_t stride = 1;
  for (unsigned dim = program.extents.size(); dim-- > 0;) {
    if (dim == program.recurrence)
      continue;
    int64_t extent = program.extents[dim];
    if (program.indices[dim]) {
      Word *words = get(*program.indices[dim]);
      int64_t index = first / stride % extent, within = first % stride;
      for (unsigned lane = 0; lane < count; ++lane) {
        words[lane].integer = index;
        if (++within == stride) {
          within = 0;
          if (++index == extent)
            index = 0;
        }
      }
    }
    stride *= extent;
  }
}

void Executor::store(char *result, int64_t first, unsigned count,
                     int64_t time) {
  const Word *words = get(program.result);
  unsigned step = program.result.isVarying ? 1 : 0;
  // Around the recurrence: elements (outer, time, inner).
  int64_t inner = 1, steps = 1;
  if (program.recurrence) {
    steps = program.extents[*program.recurrence];
    for (unsigned dim = *program.recurrence + 1; dim < program.extents.size();
         ++dim)
      inner *= program.extents[dim];
  }
  dispatch(program.resultKind, [&](auto element) {
    using Element = decltype(element);
    auto *out = reinterpret_cast<typename Element::Stored *>(result);
    auto encode = [&](unsigned lane) {
      Word word = words[size_t(lane) * step];
      if constexpr (std::is_same_v<typename Element::Computed, double>)
        return Element::encode(word.real);
      else
        return Element::encode(word.integer);
    };
    if (!program.recurrence) {
      for (unsigned lane = 0; lane < count; ++lane)
        out[first + lane] = encode(lane);
      return;
    }
    for (unsigned lane = 0; lane < count; ++lane) {
      int64_t element = first + lane;
      out[(element / inner * steps + time) * inner + element % inner] =
          encode(lane);
    }
  });
}

void Executor::run(llvm::ArrayRef<Buffer> buffers, char *result, int64_t time) {
  tensors = buffers;
  int64_t total = 1;
  for (unsigned dim = 0; dim < program.extents.size(); ++dim)
    if (dim != program.recurrence)
      total *= program.extents[dim];
  for (int64_t first = 0; first < total; first += kLanes) {
    numLanes = static_cast<unsigned>(std::min<int64_t>(kLanes, total - first));
    fillIndices(first, numLanes, time);
    runRegion(0);
    store(result, first, numLanes, time);
  }
}
