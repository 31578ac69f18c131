# Build rules shared by every Espalier library, dialect and tool.

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
set(CMAKE_BUILD_RPATH ${LLVM_LIBRARY_DIR})
set(CMAKE_INSTALL_RPATH ${LLVM_LIBRARY_DIR})

# The common MLIR headers, compiled once.
file(WRITE ${PROJECT_BINARY_DIR}/pch.cpp "// Carries the precompiled header.\n")
add_library(EspalierPch OBJECT ${PROJECT_BINARY_DIR}/pch.cpp)
target_compile_options(EspalierPch PRIVATE -fno-exceptions)
target_precompile_headers(EspalierPch PRIVATE
  <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/Func/IR/FuncOps.h>
  <mlir/Dialect/MemRef/IR/MemRef.h> <mlir/IR/Builders.h>
  <mlir/IR/OpImplementation.h> <mlir/IR/PatternMatch.h> <mlir/Pass/Pass.h>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Xclang>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-pch-timestamp>)
  target_compile_options(EspalierPch PRIVATE -Xclang -fno-pch-timestamp)
endif()

# espalier_add_dialect(<Name> <mnemonic>)
#   Generates declarations, definitions and reference documentation for
#   <Name>Ops.td in the current (include) directory.
function(espalier_add_dialect name mnemonic)
  set(LLVM_TARGET_DEFINITIONS ${name}Ops.td)
  mlir_tablegen(${name}Ops.h.inc -gen-op-decls)
  mlir_tablegen(${name}Ops.cpp.inc -gen-op-defs)
  mlir_tablegen(${name}Dialect.h.inc -gen-dialect-decls -dialect=${mnemonic})
  mlir_tablegen(${name}Dialect.cpp.inc -gen-dialect-defs -dialect=${mnemonic})
  add_public_tablegen_target(Espalier${name}OpsIncGen)
  add_dependencies(espalier-headers Espalier${name}OpsIncGen)
  espalier_add_doc(${name}Ops ${name}Dialect -gen-dialect-doc -dialect=${mnemonic})
endfunction()

# espalier_add_attributes(<Name> <mnemonic>)
#   Generates the attributes, enumerations and interfaces of <Name>Attributes.td
#   and <Name>Interfaces.td, as far as the files exist.
function(espalier_add_attributes name mnemonic)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${name}Attributes.td)
    set(LLVM_TARGET_DEFINITIONS ${name}Attributes.td)
    mlir_tablegen(${name}Enums.h.inc -gen-enum-decls)
    mlir_tablegen(${name}Enums.cpp.inc -gen-enum-defs)
    mlir_tablegen(${name}Attributes.h.inc -gen-attrdef-decls -attrdefs-dialect=${mnemonic})
    mlir_tablegen(${name}Attributes.cpp.inc -gen-attrdef-defs -attrdefs-dialect=${mnemonic})
    add_public_tablegen_target(Espalier${name}AttributesIncGen)
    add_dependencies(espalier-headers Espalier${name}AttributesIncGen)
  endif()
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${name}Interfaces.td)
    set(LLVM_TARGET_DEFINITIONS ${name}Interfaces.td)
    mlir_tablegen(${name}Interfaces.h.inc -gen-op-interface-decls)
    mlir_tablegen(${name}Interfaces.cpp.inc -gen-op-interface-defs)
    add_public_tablegen_target(Espalier${name}InterfacesIncGen)
    add_dependencies(espalier-headers Espalier${name}InterfacesIncGen)
  endif()
endfunction()

# espalier_add_passes(<Group>)
#   Generates declarations and documentation for Passes.td in the current
#   directory; <Group> names the register<Group>Passes() function.
function(espalier_add_passes group)
  set(LLVM_TARGET_DEFINITIONS Passes.td)
  mlir_tablegen(Passes.h.inc -gen-pass-decls -name ${group})
  add_public_tablegen_target(Espalier${group}PassesIncGen)
  add_dependencies(espalier-headers Espalier${group}PassesIncGen)
  espalier_add_doc(Passes ${group}Passes -gen-pass-doc)
endfunction()

# espalier_add_transform_ops(<Name>)
#   Generates the transform-dialect extension ops of <Name>TransformOps.td.
function(espalier_add_transform_ops name)
  set(LLVM_TARGET_DEFINITIONS ${name}TransformOps.td)
  mlir_tablegen(${name}TransformOps.h.inc -gen-op-decls)
  mlir_tablegen(${name}TransformOps.cpp.inc -gen-op-defs)
  add_public_tablegen_target(Espalier${name}TransformOpsIncGen)
  add_dependencies(espalier-headers Espalier${name}TransformOpsIncGen)
  espalier_add_doc(${name}TransformOps ${name}TransformOps -gen-op-doc)
endfunction()

function(espalier_add_doc td output)
  set(LLVM_TARGET_DEFINITIONS ${td}.td)
  tablegen(MLIR ${output}.md ${ARGN})
  set(doc ${PROJECT_BINARY_DIR}/docs/Reference/${output}.md)
  add_custom_command(OUTPUT ${doc}
    COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_CURRENT_BINARY_DIR}/${output}.md ${doc}
    DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${output}.md)
  add_custom_target(${output}Doc DEPENDS ${doc})
  add_dependencies(espalier-docs ${output}Doc)
endfunction()

# espalier_add_library(<Name> sources... LINK_LIBS libs...)
#   A static library of ours. Upstream MLIR always comes from the shared
#   libMLIR, so callers list only Espalier libraries.
function(espalier_add_library name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_compile_options(${name} PRIVATE -fno-exceptions)
  target_precompile_headers(${name} REUSE_FROM EspalierPch)
  add_dependencies(${name} espalier-headers)
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS} MLIR LLVM)
  set_property(GLOBAL APPEND PROPERTY ESPALIER_LIBS ${name})
endfunction()
