# find_package(rnnopt) from the install tree and from the build tree.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(rnnopt_config_dir ${CMAKE_INSTALL_DATADIR}/cmake/rnnopt)

configure_file(cmake/rnnopt-config.cmake ${PROJECT_BINARY_DIR}/rnnopt-config.cmake COPYONLY)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/rnnopt-config-version.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)

install(TARGETS rnnopt EXPORT rnnopt-targets FILE_SET HEADERS)
install(EXPORT rnnopt-targets NAMESPACE rnnopt:: DESTINATION ${rnnopt_config_dir})
install(FILES ${PROJECT_BINARY_DIR}/rnnopt-config.cmake ${PROJECT_BINARY_DIR}/rnnopt-config-version.cmake
        DESTINATION ${rnnopt_config_dir})

export(EXPORT rnnopt-targets NAMESPACE rnnopt:: FILE ${PROJECT_BINARY_DIR}/rnnopt-targets.cmake)
