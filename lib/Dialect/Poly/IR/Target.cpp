//===- Target.cpp - Machines to compile for -------------------------------===//

#include "espalier/Dialect/Poly/IR/Target.h"
#include "espalier/Dialect/Poly/IR/TargetFeatures.h"
#include "espalier/Support/Subtarget.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include <array>
#include <thread>

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

namespace {
/// What is usual for a processor. Cache sizes in KiB.
struct CpuInfo {
  llvm::StringLiteral name;
  llvm::StringLiteral features;
  int64_t vectorBits, registers, l1, l2, l3, cores;
};
} // namespace

static constexpr CpuInfo kCpus[] = {
    {"x86-64", "", 128, 16, 32, 256, 4096, 2},
    {"x86-64-v3", "", 256, 16, 32, 256, 8192, 4},
    {"x86-64-v4", "", 512, 32, 32, 1024, 16384, 8},
    {"haswell", "", 256, 16, 32, 256, 8192, 4},
    {"skylake", "", 256, 16, 32, 256, 8192, 4},
    {"skylake-avx512", "", 512, 32, 32, 1024, 22528, 16},
    {"cascadelake", "", 512, 32, 32, 1024, 22528, 16},
    {"icelake-server", "", 512, 32, 48, 1280, 49152, 32},
    {"sapphirerapids", "", 512, 32, 48, 2048, 107520, 56},
    {"emeraldrapids", "", 512, 32, 48, 2048, 266240, 60},
    {"graniterapids", "", 512, 32, 48, 2048, 393216, 96},
    {"znver2", "", 256, 16, 32, 512, 16384, 8},
    {"znver3", "", 256, 16, 32, 512, 32768, 8},
    {"znver4", "", 512, 32, 32, 1024, 32768, 8},
    {"znver5", "", 512, 32, 48, 1024, 32768, 8},
    {"generic", "", 128, 32, 32, 512, 4096, 4},
    {"neoverse-n1", "", 128, 32, 64, 1024, 32768, 64},
    {"neoverse-v1", "", 256, 32, 64, 1024, 32768, 64},
    {"neoverse-v2", "", 128, 32, 64, 2048, 73728, 72},
    {"apple-m1", "", 128, 32, 128, 12288, 8192, 4},
};

static TargetAttr getTargetOf(MLIRContext *context, const CpuInfo &cpu) {
  return TargetAttr::get(context, cpu.name, cpu.features, cpu.vectorBits,
                         cpu.registers, cpu.l1 << 10, cpu.l2 << 10,
                         cpu.l3 << 10, cpu.cores);
}

static const CpuInfo *lookupCpu(StringRef name) {
  const auto *it = llvm::find_if(
      kCpus, [&](const CpuInfo &cpu) { return cpu.name == name; });
  return it == std::end(kCpus) ? nullptr : it;
}

/// What a file of the system says, which has one line; empty if there is none.
static std::string readLine(const Twine &path) {
  auto file = llvm::MemoryBuffer::getFileAsStream(path);
  return file ? (*file)->getBuffer().trim().str() : "";
}

/// Bytes of the first core's data caches, by level; 0 where the system does not
/// tell. The C library takes all third-level caches of some processors for one.
static std::array<int64_t, 4> readCacheSizes() {
  std::array<int64_t, 4> sizes = {};
  for (unsigned number = 0; number < 8; ++number) {
    std::string folder =
        ("/sys/devices/system/cpu/cpu0/cache/index" + Twine(number)).str();
    // Such as `32K`.
    std::string text = readLine(folder + "/size");
    StringRef size = text;
    unsigned level;
    int64_t kibibytes;
    if (!StringRef(readLine(folder + "/level")).getAsInteger(10, level) &&
        level < sizes.size() && readLine(folder + "/type") != "Instruction" &&
        size.consume_back("K") && !size.getAsInteger(10, kibibytes))
      sizes[level] = kibibytes << 10;
  }
  return sizes;
}

TargetAttr
espalier::poly::describeTarget(MLIRContext *context, StringRef cpu,
                               llvm::function_ref<bool(StringRef)> hasFeature) {
  const CpuInfo *known = lookupCpu(cpu);
  bool isX86 = hasFeature("sse2");
  CpuInfo info = known ? *known : *lookupCpu(isX86 ? "x86-64" : "generic");
  if (isX86) {
    info.vectorBits = hasFeature("avx512f") ? 512
                      : hasFeature("avx")   ? 256
                                            : 128;
    info.registers = hasFeature("avx512f") ? 32 : 16;
  }
  return TargetAttr::get(context, cpu, info.features, info.vectorBits,
                         info.registers, info.l1 << 10, info.l2 << 10,
                         info.l3 << 10, info.cores);
}

TargetAttr espalier::poly::detectHostTarget(MLIRContext *context) {
  StringRef cpu = llvm::sys::getHostCPUName();
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  SmallVector<std::string> features;
  for (const auto &feature : host)
    features.push_back((feature.second ? "+" : "-") + feature.first().str());
  llvm::sort(features);

  TargetAttr usual = describeTarget(
      context, cpu, [&](StringRef feature) { return host.lookup(feature); });
  // Read once, as many ask.
  static const std::array<int64_t, 4> caches = readCacheSizes();
  int64_t l1 = caches[1] ? caches[1] : usual.getL1();
  int64_t l2 = caches[2] ? caches[2] : usual.getL2();
  int64_t l3 = caches[3] ? caches[3] : usual.getL3();
  int64_t cores = std::max(1u, std::thread::hardware_concurrency());
  return TargetAttr::get(context, cpu, llvm::join(features, ","),
                         usual.getVectorBits(), usual.getRegisters(), l1, l2,
                         l3, cores);
}

TargetAttr espalier::poly::getNamedTarget(MLIRContext *context, StringRef cpu) {
  if (cpu == "native")
    return detectHostTarget(context);
  const CpuInfo *known = lookupCpu(cpu);
  return known ? getTargetOf(context, *known) : TargetAttr();
}

SmallVector<StringRef> espalier::poly::getTargetNames() {
  SmallVector<StringRef> names = {"native"};
  for (const CpuInfo &cpu : kCpus)
    names.push_back(cpu.name);
  return names;
}

TargetAttr espalier::poly::getTarget(Operation *op) {
  for (Operation *at = op; at; at = at->getParentOp())
    if (auto target = at->getAttrOfType<TargetAttr>(TargetAttr::getAttrName()))
      return target;
  return detectHostTarget(op->getContext());
}

OwningOpRef<KernelOp> espalier::poly::cloneAlone(KernelOp kernel) {
  OwningOpRef<KernelOp> copy(kernel.clone());
  (*copy)->setAttr(TargetAttr::getAttrName(), getTarget(kernel));
  return copy;
}

int64_t TargetAttr::getLanes(Type type) const {
  unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  return std::max<int64_t>(1, getVectorBits() / std::max(bits, 8u));
}

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef cpu, StringRef, int64_t vectorBits,
                                 int64_t registers, int64_t l1, int64_t l2,
                                 int64_t l3, int64_t cores) {
  if (cpu.empty())
    return emitError() << "expects the name of a processor, but got none";
  for (auto [name, value] :
       {std::pair("vector_bits", vectorBits), std::pair("registers", registers),
        std::pair("l1", l1), std::pair("l2", l2), std::pair("l3", l3),
        std::pair("cores", cores)})
    if (value < 1 || value > (int64_t(1) << 40))
      return emitError() << "expects " << name
                         << " between 1 and 2^40, but got " << value;
  return success();
}

bool TargetAttr::hasFastGather() const {
  return hasFeature(*this, "fast-gather");
}

bool espalier::poly::hasPairProducts(TargetAttr target, int64_t lanes) {
  constexpr int64_t kAllLanes = 16;
  return hasFeature(target, "avx512bf16") &&
         (lanes == kAllLanes ||
          ((lanes == kAllLanes / 2 || lanes == kAllLanes / 4) &&
           hasFeature(target, "avx512vl")));
}

bool espalier::poly::hasFeature(TargetAttr target, StringRef feature) {
  auto subtarget = createSubtarget("", "");
  if (!subtarget) {
    // There is no code for this machine then, of either kind.
    llvm::consumeError(subtarget.takeError());
    return false;
  }
  llvm::MCSubtargetInfo &info = **subtarget;
  if (info.isCPUStringValid(target.getCpu()))
    info.setDefaultFeatures(target.getCpu(), target.getCpu(), "");
  // What is missing takes with it what needs it, and the other way round.
  llvm::StringSet<> known;
  for (const llvm::SubtargetFeatureKV &entry : info.getAllProcessorFeatures())
    known.insert(entry.Key);
  llvm::SubtargetFeatures stated(target.getFeatures());
  for (StringRef other : stated.getFeatures())
    if (known.contains(llvm::SubtargetFeatures::StripFlag(other)))
      info.ApplyFeatureFlag(other);
  return llvm::any_of(
      info.getEnabledProcessorFeatures(),
      [&](const auto &enabled) { return feature == enabled.Key; });
}
