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
# The runtime is a library, since Python, which is not instrumented, loads our
# extension.
if(LLVM_USE_SANITIZER MATCHES "Thread")
  set(sanitizer tsan)
elseif(LLVM_USE_SANITIZER MATCHES "Address")
  set(sanitizer asan)
else()
  set(sanitizer ubsan_standalone)
endif()
execute_process(
  COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libclang_rt.${sanitizer}-${CMAKE_SYSTEM_PROCESSOR}.so
  OUTPUT_VARIABLE ESPALIER_SANITIZER_RUNTIME OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT EXISTS ${ESPALIER_SANITIZER_RUNTIME})
  message(FATAL_ERROR "expects the sanitizers' runtime, but it is missing; "
                      "install libclang-rt-22-dev")
endif()
get_filename_component(ESPALIER_SANITIZER_DIR ${ESPALIER_SANITIZER_RUNTIME} DIRECTORY)
add_compile_options(-shared-libsan)
add_link_options(-shared-libsan)

# espalier_add_sanitized_check()
#   `bin/sanitized`, and the target check-sanitized that runs tests with it.
function(espalier_add_sanitized_check)
  set(executable OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                 WORLD_READ WORLD_EXECUTE)
  set(sanitized ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/sanitized)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/modules/sanitized.in ${sanitized}
                 @ONLY FILE_PERMISSIONS ${executable})
  set(run ${sanitized} ${Python_EXECUTABLE})
  set(tests ${PROJECT_SOURCE_DIR}/test/Python/Robustness)
  if(LLVM_USE_SANITIZER MATCHES "Thread")
    # What has threads of ours.
    set(targets RuntimeTests EspalierSubstitutionGeneratorTests _espalier)
    set(python_tests ${tests}/test_threads.py)
    set(suites ${PROJECT_BINARY_DIR}/test/Unit/Runtime
               ${PROJECT_BINARY_DIR}/test/Unit/Substitution/Generator)
  else()
    get_property(targets GLOBAL PROPERTY ESPALIER_TEST_DEPENDS)
    set(python_tests ${tests}/test_threads.py ${tests}/test_fuzz_readers.py
                     ${tests}/test_misuse.py)
    # Unit tests, and what runs one pass or another.
    set(suites Unit Conversion Dialect Interpreter Pipeline)
    list(TRANSFORM suites PREPEND ${PROJECT_BINARY_DIR}/test/)
  endif()
  add_custom_target(check-sanitized
    COMMAND ${sanitized} ${Python_EXECUTABLE} ${LLVM_TOOLS_BINARY_DIR}/lit -sv ${suites}
    COMMAND ${run} -m pytest -q ${python_tests}
    DEPENDS ${targets}
    USES_TERMINAL)
endfunction()
