# Install rules: `cmake --install` gives headers, the library, and a CMake package for find_package(lope).

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(lope_package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/lope")
install(TARGETS lope EXPORT lope-targets)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/lope" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT lope-targets NAMESPACE lope:: DESTINATION "${lope_package_folder}")

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/lope-config.cmake.in" "${PROJECT_BINARY_DIR}/lope-config.cmake"
  INSTALL_DESTINATION "${lope_package_folder}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/lope-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(
  FILES "${PROJECT_BINARY_DIR}/lope-config.cmake" "${PROJECT_BINARY_DIR}/lope-config-version.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/FindLibTorch.cmake"
  DESTINATION "${lope_package_folder}")
