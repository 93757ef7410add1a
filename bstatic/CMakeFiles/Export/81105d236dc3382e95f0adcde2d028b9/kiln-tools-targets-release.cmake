#----------------------------------------------------------------
# Generated CMake target import file for configuration "Release".
#----------------------------------------------------------------

# Commands may need to know the format version.
set(CMAKE_IMPORT_FILE_VERSION 1)

# Import target "kiln::kiln-opt" for configuration "Release"
set_property(TARGET kiln::kiln-opt APPEND PROPERTY IMPORTED_CONFIGURATIONS RELEASE)
set_target_properties(kiln::kiln-opt PROPERTIES
  IMPORTED_LOCATION_RELEASE "${_IMPORT_PREFIX}/bin/kiln-opt"
  )

list(APPEND _cmake_import_check_targets kiln::kiln-opt )
list(APPEND _cmake_import_check_files_for_kiln::kiln-opt "${_IMPORT_PREFIX}/bin/kiln-opt" )

# Import target "kiln::kiln-run" for configuration "Release"
set_property(TARGET kiln::kiln-run APPEND PROPERTY IMPORTED_CONFIGURATIONS RELEASE)
set_target_properties(kiln::kiln-run PROPERTIES
  IMPORTED_LOCATION_RELEASE "${_IMPORT_PREFIX}/bin/kiln-run"
  )

list(APPEND _cmake_import_check_targets kiln::kiln-run )
list(APPEND _cmake_import_check_files_for_kiln::kiln-run "${_IMPORT_PREFIX}/bin/kiln-run" )

# Commands beyond this point should not need to know the version.
set(CMAKE_IMPORT_FILE_VERSION)
