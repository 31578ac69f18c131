# What a build with LLVM_USE_SANITIZER, an option of LLVM's HandleLLVMOptions,
# needs besides. docs/Guides/sanitizers-and-fuzzing.md shows the commands.

# espalier_leave_unsanitized(<target>)
#   For what is linked into compiled programs, which know no sanitizer.
function(espalier_leave_unsanitized target)
  if(LLVM_USE_SANITIZER MATCHES "Address|Undefined")
    target_compile_options(${target} PRIVATE -fno-sanitize=all)
  endif()
endfunction()

if(NOT LLVM_USE_SANITIZER)
  return()
endif()
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "expects Clang for LLVM_USE_SANITIZER, but got "
                      "${CMAKE_CXX_COMPILER_ID}")
endif()
# Lines of our code in reports, in a build that takes no longer than another.
add_compile_options(-O1 -gline-tables-only)
if(LLVM_USE_SANITIZER MATCHES "Undefined")
  # LLVM sets these flags in its own build only. The two left out compare types
  # across libraries: libMLIR hides its run-time type information.
  set(flags -fsanitize=undefined -fno-sanitize=vptr,function -fno-sanitize-recover=all)
  add_compile_options(${flags})
  add_link_options(${flags})
endif()
if(LLVM_USE_SANITIZER MATCHES "Address")
  # The runtime is a library, since Python, which is not instrumented, loads our
  # extension.
  execute_process(
    COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libclang_rt.asan-${CMAKE_SYSTEM_PROCESSOR}.so
    OUTPUT_VARIABLE ESPALIER_SANITIZER_RUNTIME OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT EXISTS ${ESPALIER_SANITIZER_RUNTIME})
    message(FATAL_ERROR "expects the sanitizers' runtime, but it is missing; "
                        "install libclang-rt-22-dev")
  endif()
  get_filename_component(ESPALIER_SANITIZER_DIR ${ESPALIER_SANITIZER_RUNTIME} DIRECTORY)
  add_compile_options(-shared-libsan)
  add_link_options(-shared-libsan)
endif()
