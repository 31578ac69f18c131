# espalier_add_python_package(<name>)
#   Puts the Python sources of <name>/ into the build's python folder, as links:
#   an edited file needs no build, and compiled modules lie beside them.
function(espalier_add_python_package name)
  set(package ${PROJECT_BINARY_DIR}/python/${name})
  file(GLOB_RECURSE links LIST_DIRECTORIES false ${package}/*)
  foreach(link IN LISTS links)
    if(IS_SYMLINK ${link} AND NOT EXISTS ${link})
      file(REMOVE ${link})
    endif()
  endforeach()
  file(GLOB_RECURSE sources RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/${name}
       CONFIGURE_DEPENDS ${name}/*.py ${name}/py.typed)
  foreach(source IN LISTS sources)
    get_filename_component(folder ${package}/${source} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${name}/${source}
         ${package}/${source} SYMBOLIC)
  endforeach()
  install(DIRECTORY ${name} DESTINATION ${ESPALIER_PYTHON_DIR}
          FILES_MATCHING PATTERN "*.py" PATTERN "py.typed"
          PATTERN __pycache__ EXCLUDE)
endfunction()

# Where an installed package lies, below the prefix.
set(ESPALIER_PYTHON_DIR ${CMAKE_INSTALL_LIBDIR}/espalier/python)
