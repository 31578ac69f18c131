# How Espalier's C++ is compiled: ccache, mold, flags, the precompiled header.

# ccache and mold are used where they are installed.
find_program(ESPALIER_CCACHE ccache)
if(ESPALIER_CCACHE)
  # The precompiled header is compiled once; these settings let ccache see
  # through it (ccache manual, "Precompiled headers").
  set(launcher ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${ESPALIER_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
find_program(ESPALIER_MOLD mold)
if(ESPALIER_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
set(CMAKE_BUILD_RPATH ${LLVM_LIBRARY_DIR} ${ESPALIER_SANITIZER_DIR})
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR};${LLVM_LIBRARY_DIR}")

# LLVM's choice of RTTI is part of its C++ interface; Debian has it on.
if(NOT LLVM_ENABLE_RTTI)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
endif()

# An aggregate that leaves its last fields at their defaults is no mistake.
add_compile_options(-Wno-missing-field-initializers)

# The common MLIR headers, compiled once.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/pch.cpp
     CONTENT "// Carries the precompiled header.\n")
add_library(EspalierPch OBJECT ${PROJECT_BINARY_DIR}/pch.cpp)
target_compile_options(EspalierPch PRIVATE -fPIC -fno-exceptions)
set_target_properties(EspalierPch PROPERTIES POSITION_INDEPENDENT_CODE OFF)
target_precompile_headers(EspalierPch PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/QuietAlgorithm.h
  <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/Func/IR/FuncOps.h>
  <mlir/Dialect/MemRef/IR/MemRef.h> <mlir/IR/Builders.h>
  <mlir/IR/OpImplementation.h> <mlir/IR/PatternMatch.h> <mlir/Pass/Pass.h>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Without a time stamp the header is the same file in every build, so what
  # includes it is found in the cache.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
  target_compile_options(EspalierPch PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
endif()

# espalier_compile_as_ours(<target>)
#   Compiles a target with the precompiled header and all that goes with it.
function(espalier_compile_as_ours target)
  # An executable too: the header was compiled with -fPIC, and -fPIE differs.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIC -fno-exceptions)
  target_precompile_headers(${target} REUSE_FROM EspalierPch)
  add_dependencies(${target} espalier-headers)
endfunction()
