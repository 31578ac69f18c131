//===- Embed.h - Files that travel inside a library -------------*- C++ -*-===//

#ifndef ESPALIER_SUPPORT_EMBED_H
#define ESPALIER_SUPPORT_EMBED_H

/// Defines the arrays `symbol`, the bytes of the file `path` with a zero behind
/// them, and `symbol_end`, which begins at that zero.
// NOLINTBEGIN: assembly
#define ESPALIER_EMBED(symbol, path)                                           \
  __asm__(".section .rodata\n"                                                 \
          ".balign 16\n" #symbol ":\n"                                         \
          ".incbin \"" path "\"\n" #symbol "_end:\n"                           \
          ".byte 0\n"                                                          \
          ".previous\n");                                                      \
  extern "C" __attribute__((visibility("hidden"))) const char symbol[];        \
  extern "C" __attribute__((visibility("hidden"))) const char symbol##_end[];
// NOLINTEND

#endif // ESPALIER_SUPPORT_EMBED_H
