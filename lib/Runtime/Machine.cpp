//===- Machine.cpp - What the machine at hand can execute -----------------===//

#include "Context.h"
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>

namespace {
/// State that the operating system saves, as bits of the register XCR0.
enum SavedState : uint64_t {
  SSE = 0,
  AVX = 0x6,
  AVX512 = 0xe6,
  AMX = 0x60000,
  APX = 0x80000,
};
} // namespace

static uint64_t readSavedState() {
  unsigned eax, ebx, ecx, edx;
  // Without OSXSAVE there is no XCR0.
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & (1u << 27)))
    return 0;
  unsigned low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t)high << 32 | low;
}

ESPALIER_MERGED bool espalier::runtime::machineHas(const char *feature) {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
#define X86_FEATURE(name, leaf, subleaf, register, bit, state)                 \
  if (!strcmp(feature, name))                                                  \
    return __get_cpuid_count(leaf, subleaf, &eax, &ebx, &ecx, &edx) &&         \
           (register & (1u << bit)) && (readSavedState() & state) == state;
#include "espalier-c/CpuFeatures.def"
  return true;
}
#else
ESPALIER_MERGED bool espalier::runtime::machineHas(const char *) {
  return true;
}
#endif
