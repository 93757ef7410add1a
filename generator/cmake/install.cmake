# Installs and exports Kiln. Each component has its own export set, so an application that asks for `runtime` gets nothing else.
include(CMakePackageConfigHelpers)
set(kiln_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kiln)

function(kiln_install_component component)
  install(TARGETS ${ARGN} EXPORT kiln-${component}-targets COMPONENT ${component}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(EXPORT kiln-${component}-targets NAMESPACE kiln:: DESTINATION ${kiln_package_dir} COMPONENT ${component})
endfunction()

# The whole compiler as one shared library that contains main(). A generator executable consists of its own programs and links
# this library; only the library links LLVM.
if(TARGET kiln_generator_main)
  add_library(kiln_generator_shared SHARED ${CMAKE_CURRENT_LIST_DIR}/version.cpp)
  target_link_libraries(kiln_generator_shared PRIVATE kiln_options $<LINK_LIBRARY:WHOLE_ARCHIVE,kiln_generator_main>)
  set_target_properties(kiln_generator_shared PROPERTIES
    COMPILE_DEFINITIONS KILN_VERSION="${PROJECT_VERSION}" OUTPUT_NAME kiln_generator EXPORT_NAME generator_main SOVERSION ${PROJECT_VERSION_MAJOR} VERSION ${PROJECT_VERSION}
    INSTALL_RPATH_USE_LINK_PATH ON)
  set_target_properties(kiln_dsl PROPERTIES EXPORT_NAME dsl)
  set_target_properties(kiln_dsl_diagnostics PROPERTIES EXPORT_NAME dsl_diagnostics)
  kiln_install_component(generator kiln_generator_shared)
  kiln_install_component(dsl kiln_dsl kiln_dsl_diagnostics)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/dsl/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dsl)
  install(FILES ${CMAKE_CURRENT_LIST_DIR}/kiln_add_kernels.cmake ${CMAKE_CURRENT_LIST_DIR}/kiln_combine_objects.cmake
    DESTINATION ${kiln_package_dir} COMPONENT generator)
endif()

set(kiln_tools)
foreach(tool kiln-opt kiln-run kiln-tune)
  if(TARGET ${tool})
    list(APPEND kiln_tools ${tool})
  endif()
endforeach()
if(kiln_tools)
  kiln_install_component(tools ${kiln_tools})
endif()

kiln_install_component(runtime kiln_runtime)
kiln_install_component(threads kiln_threads)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/abi/include/ ${PROJECT_SOURCE_DIR}/runtime/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT runtime)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/kiln-config.cmake.in kiln-config.cmake INSTALL_DESTINATION ${kiln_package_dir})
write_basic_package_version_file(kiln-config-version.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
file(RELATIVE_PATH kiln_pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${CMAKE_CURRENT_LIST_DIR}/kiln-runtime.pc.in kiln-runtime.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/kiln-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/kiln-config-version.cmake
  DESTINATION ${kiln_package_dir} COMPONENT runtime)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/kiln-runtime.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT runtime)
