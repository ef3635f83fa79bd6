# Installation, aloft.pc and the CMake package. All of it can be moved: nothing holds the prefix.
include(CMakePackageConfigHelpers)
include(cmake/AloftManual.cmake)
set(ALOFT_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Aloft)

install(TARGETS aloft aloft_static EXPORT AloftTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/aloft DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET aloft_command)
  install(TARGETS aloft_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

set_target_properties(aloft_static PROPERTIES EXPORT_NAME static)
install(EXPORT AloftTargets NAMESPACE Aloft:: DESTINATION ${ALOFT_PACKAGE_DIR})
configure_package_config_file(cmake/AloftConfig.cmake.in ${CMAKE_BINARY_DIR}/AloftConfig.cmake
                              INSTALL_DESTINATION ${ALOFT_PACKAGE_DIR})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/AloftConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/AloftConfig.cmake ${CMAKE_BINARY_DIR}/AloftConfigVersion.cmake
        DESTINATION ${ALOFT_PACKAGE_DIR})

file(RELATIVE_PATH ALOFT_PC_TO_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" ALOFT_PC_TO_PREFIX ${ALOFT_PC_TO_PREFIX})
configure_file(cmake/aloft.pc.in ${CMAKE_BINARY_DIR}/aloft.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/aloft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
