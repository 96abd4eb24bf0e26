# find_package(phasor) for others. Each target's own CMakeLists.txt installs it
# into the export set phasorTargets; phasor::c has phasorCTargets.
include(CMakePackageConfigHelpers)

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/phasor)
configure_package_config_file(cmake/phasorConfig.cmake.in
  ${PROJECT_BINARY_DIR}/phasorConfig.cmake INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/phasorConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/phasorConfig.cmake
  ${PROJECT_BINARY_DIR}/phasorConfigVersion.cmake DESTINATION ${config_dir})
install(EXPORT phasorTargets NAMESPACE phasor:: DESTINATION ${config_dir})
install(EXPORT phasorCTargets NAMESPACE phasor:: DESTINATION ${config_dir})
