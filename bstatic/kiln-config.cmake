# find_package(kiln COMPONENTS runtime threads dsl generator tools); without COMPONENTS: everything that is installed.
# No component looks for LLVM: the generator's library names it as its own run-time dependency.

####### Expanded from @PACKAGE_INIT@ by configure_package_config_file() #######
####### Any changes to this file will be overwritten by the next CMake run ####
####### The input file was kiln-config.cmake.in                            ########

get_filename_component(PACKAGE_PREFIX_DIR "${CMAKE_CURRENT_LIST_DIR}/../../../" ABSOLUTE)

macro(set_and_check _var _file)
  set(${_var} "${_file}")
  if(NOT EXISTS "${_file}")
    message(FATAL_ERROR "File or directory ${_file} referenced by variable ${_var} does not exist !")
  endif()
endmacro()

macro(check_required_components _NAME)
  foreach(comp ${${_NAME}_FIND_COMPONENTS})
    if(NOT ${_NAME}_${comp}_FOUND)
      if(${_NAME}_FIND_REQUIRED_${comp})
        set(${_NAME}_FOUND FALSE)
      endif()
    endif()
  endforeach()
endmacro()

####################################################################################

set(kiln_wanted ${kiln_FIND_COMPONENTS})
if(NOT kiln_wanted)
  set(kiln_wanted runtime threads dsl generator tools)
endif()
if("generator" IN_LIST kiln_wanted)
  list(PREPEND kiln_wanted dsl)
endif()
list(PREPEND kiln_wanted runtime)
list(REMOVE_DUPLICATES kiln_wanted)

foreach(component IN LISTS kiln_wanted)
  set(kiln_file ${CMAKE_CURRENT_LIST_DIR}/kiln-${component}-targets.cmake)
  if(NOT EXISTS ${kiln_file})
    set(kiln_${component}_FOUND FALSE)
    if(kiln_FIND_REQUIRED_${component})
      set(kiln_FOUND FALSE)
      set(kiln_NOT_FOUND_MESSAGE "component `${component}` is not installed in ${PACKAGE_PREFIX_DIR}")
      return()
    endif()
    continue()
  endif()
  if(component STREQUAL threads)
    include(CMakeFindDependencyMacro)
    find_dependency(Threads)
  endif()
  include(${kiln_file})
  set(kiln_${component}_FOUND TRUE)
endforeach()

if(kiln_generator_FOUND)
  include(${CMAKE_CURRENT_LIST_DIR}/kiln_add_kernels.cmake)
endif()
