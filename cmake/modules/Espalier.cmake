# Build rules shared by every Espalier library, dialect and tool.

include(EspalierCompiler)

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

# The headers, for targets of ours and for projects that use the package.
add_library(EspalierHeaders INTERFACE)
target_compile_features(EspalierHeaders INTERFACE cxx_std_17)
target_include_directories(EspalierHeaders INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
install(TARGETS EspalierHeaders EXPORT EspalierTargets)

# espalier_add_library(<Name> sources... LINK_LIBS libs...)
#   A static library of ours. Upstream MLIR always comes from the shared
#   libMLIR, so callers list only Espalier libraries.
function(espalier_add_library name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  espalier_compile_as_ours(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS} EspalierHeaders MLIR LLVM)
  set_property(GLOBAL APPEND PROPERTY ESPALIER_LIBS ${name})
endfunction()

# espalier_add_umbrella_library()
#   The target Espalier: all libraries that were added so far, which are what
#   the installed package consists of.
function(espalier_add_umbrella_library)
  get_property(libs GLOBAL PROPERTY ESPALIER_LIBS)
  add_library(Espalier INTERFACE)
  target_link_libraries(Espalier INTERFACE ${libs} MLIR LLVM)
  install(TARGETS Espalier ${libs} EXPORT EspalierTargets)
endfunction()

# espalier_add_tool(<name> sources... LINK_LIBS libs...)
#   A command in the build's bin folder.
function(espalier_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  espalier_compile_as_ours(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS})
  set_property(GLOBAL APPEND PROPERTY ESPALIER_TEST_DEPENDS ${name})
  install(TARGETS ${name} RUNTIME)
endfunction()

# espalier_add_unittest(<Name>Tests sources... LINK_LIBS libs...)
#   GoogleTest cases that check-espalier runs; the name must end in Tests.
function(espalier_add_unittest name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  espalier_compile_as_ours(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} GTest::gtest_main)
  set_property(GLOBAL APPEND PROPERTY ESPALIER_TEST_DEPENDS ${name})
endfunction()
