# FindFabric - libfabric. Defines Fabric_FOUND and the target Fabric::Fabric.
#
# A failed search is not cached: the next run of cmake looks again.
find_path(Fabric_INCLUDE_DIR rdma/fabric.h)
find_library(Fabric_LIBRARY fabric)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Fabric REQUIRED_VARS Fabric_LIBRARY Fabric_INCLUDE_DIR)
mark_as_advanced(Fabric_INCLUDE_DIR Fabric_LIBRARY)
if(Fabric_FOUND AND NOT TARGET Fabric::Fabric)
  add_library(Fabric::Fabric UNKNOWN IMPORTED)
  set_target_properties(Fabric::Fabric PROPERTIES IMPORTED_LOCATION ${Fabric_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${Fabric_INCLUDE_DIR})
endif()
