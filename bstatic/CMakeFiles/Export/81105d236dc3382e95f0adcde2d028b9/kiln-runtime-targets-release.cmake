#----------------------------------------------------------------
# Generated CMake target import file for configuration "Release".
#----------------------------------------------------------------

# Commands may need to know the format version.
set(CMAKE_IMPORT_FILE_VERSION 1)

# Import target "kiln::runtime" for configuration "Release"
set_property(TARGET kiln::runtime APPEND PROPERTY IMPORTED_CONFIGURATIONS RELEASE)
set_target_properties(kiln::runtime PROPERTIES
  IMPORTED_LINK_INTERFACE_LANGUAGES_RELEASE "C"
  IMPORTED_LOCATION_RELEASE "${_IMPORT_PREFIX}/lib/libkiln_runtime.a"
  )

list(APPEND _cmake_import_check_targets kiln::runtime )
list(APPEND _cmake_import_check_files_for_kiln::runtime "${_IMPORT_PREFIX}/lib/libkiln_runtime.a" )

# Commands beyond this point should not need to know the version.
set(CMAKE_IMPORT_FILE_VERSION)
