#----------------------------------------------------------------
# Generated CMake target import file for configuration "Release".
#----------------------------------------------------------------

# Commands may need to know the format version.
set(CMAKE_IMPORT_FILE_VERSION 1)

# Import target "kiln::threads" for configuration "Release"
set_property(TARGET kiln::threads APPEND PROPERTY IMPORTED_CONFIGURATIONS RELEASE)
set_target_properties(kiln::threads PROPERTIES
  IMPORTED_LINK_INTERFACE_LANGUAGES_RELEASE "C"
  IMPORTED_LOCATION_RELEASE "${_IMPORT_PREFIX}/lib/libkiln_threads.a"
  )

list(APPEND _cmake_import_check_targets kiln::threads )
list(APPEND _cmake_import_check_files_for_kiln::threads "${_IMPORT_PREFIX}/lib/libkiln_threads.a" )

# Commands beyond this point should not need to know the version.
set(CMAKE_IMPORT_FILE_VERSION)
