#----------------------------------------------------------------
# Generated CMake target import file for configuration "Release".
#----------------------------------------------------------------

# Commands may need to know the format version.
set(CMAKE_IMPORT_FILE_VERSION 1)

# Import target "kiln::generator_main" for configuration "Release"
set_property(TARGET kiln::generator_main APPEND PROPERTY IMPORTED_CONFIGURATIONS RELEASE)
set_target_properties(kiln::generator_main PROPERTIES
  IMPORTED_LOCATION_RELEASE "${_IMPORT_PREFIX}/lib/libkiln_generator.so.0.1.0"
  IMPORTED_SONAME_RELEASE "libkiln_generator.so.0"
  )

list(APPEND _cmake_import_check_targets kiln::generator_main )
list(APPEND _cmake_import_check_files_for_kiln::generator_main "${_IMPORT_PREFIX}/lib/libkiln_generator.so.0.1.0" )

# Commands beyond this point should not need to know the version.
set(CMAKE_IMPORT_FILE_VERSION)
