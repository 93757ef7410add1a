# Peers from Debian's packages. A peer whose package is missing is left out, with a message. Their headers are system headers.
function(headline_library_peer name header library)
  cmake_parse_arguments(PARSE_ARGV 3 L "" "SUFFIX" "SOURCES;OPTIONS;INCLUDES")
  find_path(HEADLINE_${name}_INCLUDE ${header} PATHS ${L_INCLUDES} PATH_SUFFIXES ${L_SUFFIX} NO_CMAKE_PATH)
  if(library)
    find_library(HEADLINE_${name}_LIBRARY ${library} PATH_SUFFIXES ${L_SUFFIX})
  endif()
  if(NOT HEADLINE_${name}_INCLUDE OR (library AND NOT HEADLINE_${name}_LIBRARY))
    message(STATUS "headline: no ${name}")
    return()
  endif()
  headline_peer(${name} SOURCES ${L_SOURCES} LIBS ${HEADLINE_${name}_LIBRARY} OPTIONS -O3 -march=native ${L_OPTIONS})
  target_include_directories(headline_${name} SYSTEM BEFORE PRIVATE ${HEADLINE_${name}_INCLUDE})
  set(programs ${programs} PARENT_SCOPE)
endfunction()

set(multiarch /usr/include/${CMAKE_LIBRARY_ARCHITECTURE} /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})
headline_library_peer(openblas cblas.h openblas SUFFIX openblas-pthread INCLUDES ${multiarch} SOURCES peers/blas.cpp OPTIONS -DHEADLINE_OPENBLAS)
headline_library_peer(blis cblas.h blis SUFFIX blis-openmp INCLUDES ${multiarch} SOURCES peers/blas.cpp)
headline_library_peer(eigen Eigen/Core "" SUFFIX eigen3 SOURCES peers/eigen_products.cpp peers/eigen_arrays.cpp
  OPTIONS -DNDEBUG -Wno-maybe-uninitialized)  # g++ 12 warns about its own AVX-512 headers
headline_library_peer(onednn dnnl.hpp dnnl SOURCES peers/onednn_products.cpp peers/onednn_others.cpp)
headline_library_peer(tbb tbb/parallel_scan.h tbb SOURCES peers/tbb.cpp OPTIONS -DNDEBUG)
